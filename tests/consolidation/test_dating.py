"""When claims begin and end, as one sentence of a note of 16 May 2025, a Friday, says."""

from __future__ import annotations

from datetime import UTC, datetime

from memento.consolidation.dating import date_claims
from memento.text.claims import read_claims

TOLD = datetime(2025, 5, 16, 12, tzinfo=UTC)

DATED = [
    ("My last day at Nordhaven is 30 June.", "2025-06-30", ""),
    ("Farid's last day is 20 June.", "2025-06-20", ""),
    ("Callum's last day with me is 11 July.", "2025-07-11", ""),
    ("My first day at Kestrel is 7 July.", "2025-07-07", ""),
    ("Bought a second-hand Kia Niro EV, white, from 2022.", "", ""),
    ("I bought a Kia from 2022.", "", ""),
    ("Bryndis is away from 1 June to end of August.", "2025-06-01", "2025-09-01"),
    ("Osei is on parental leave from 1 July to 31 August.", "2025-07-01", "2025-09-01"),
    ("Tomas is on parental leave from 2 June to 1 August.", "2025-06-02", "2025-08-02"),
    ("My leave runs from 4 September to 20 December.", "2025-09-04", "2025-12-21"),
    ("I'm on holiday from 2 to 14 June.", "2025-06-02", "2025-06-15"),
    ("I'm on holiday until 14 June.", "", "2025-06-14"),
    ("We're in Porto between 3 and 9 August.", "2025-08-03", "2025-08-10"),
    ("Ana is on sabbatical until the end of the year.", "", "2026-01-01"),
    ("Ana is on sabbatical till September.", "", "2025-09-01"),
    ("I work at Nexum from Monday.", "2025-05-19", ""),
    ("From June I work at Nexum.", "2025-06-01", ""),
    ("As of 1 June I work at Nexum.", "2025-06-01", ""),
    ("Starting 1 June, Lia leads the team.", "2025-06-01", ""),
    ("Lia will lead the team starting in September.", "2025-09-01", ""),
    ("I've lived in Oslo since 2021.", "2021-01-01", ""),
    ("I've lived in Oslo for three years.", "2022-05-16", ""),
    ("I moved to Oslo three years ago.", "2022-05-16", ""),
    ("I moved to Oslo in March.", "2025-03-01", ""),
    ("I moved to Oslo in November.", "2024-11-01", ""),
    ("I'm moving to Oslo in November.", "2025-11-01", ""),
    ("I lived in Ghent from 2015 to 2019.", "2015-01-01", "2020-01-01"),
    ("I worked at Siemens between 2010 and 2014.", "2010-01-01", "2015-01-01"),
    ("I worked at Siemens until 2014.", "", "2014-01-01"),
    ("Leila's address since last weekend: Ploegstraat 14.", "2025-05-10", ""),
    ("The rent is 900 from July.", "2025-07-01", ""),
    ("The rent goes up to 900 in July.", "2025-07-01", ""),
    ("The rent is 900 from 1 May.", "2025-05-01", ""),
    ("The rent is 900 from 1 February.", "2025-02-01", ""),
    ("The rent is 900 from 1 October.", "2025-10-01", ""),
    ("The rent went up to 900 in January.", "2025-01-01", ""),
    ("The rent will be 900 from 1 January.", "2026-01-01", ""),
    ("Our rent goes up to 900 next month.", "2025-06-16", ""),
    ("Karim starts at ING next Monday.", "2025-05-19", ""),
    ("Karim started at ING last Monday.", "2025-05-12", ""),
    ("Karim has been at ING since January.", "2025-01-01", ""),
    ("Karim joined ING on 3 March.", "2025-03-03", ""),
    ("Karim joins ING on 3 March.", "2026-03-03", ""),
    ("Karim left ING in April.", "2025-04-01", ""),
    ("Karim leaves ING at the end of June.", "2025-06-30", ""),
    ("Karim is leaving ING at the end of the month.", "2025-05-31", ""),
    ("Lotte told me that she is moving to Utrecht in August.", "2025-08-01", ""),
    ("I sold the Golf yesterday.", "2025-05-15", ""),
    ("I sold the Golf on Tuesday.", "2025-05-13", ""),
    ("I'm selling the Golf on Tuesday.", "2025-05-20", ""),
    ("The shop is closed on 29 May.", "2025-05-29", ""),
    ("The shop is closed from 20 to 27 July.", "2025-07-20", "2025-07-28"),
    ("Jan stands in for Mia in June.", "2025-06-01", "2025-07-01"),
    ("Jan stands in for Mia this week.", "", "2025-05-19"),
    ("Jan stands in for Mia next week.", "2025-05-19", "2025-05-26"),
    ("My contract ends on 31 December.", "2025-12-31", ""),
    ("My passport expires in March 2027.", "2027-03-01", ""),
    ("I've been a vegetarian since I was twelve.", "", ""),
    ("I quit smoking two years ago.", "2023-05-16", ""),
    ("For the next two weeks I'm staying at Karim's.", "", "2025-05-30"),
    ("I'm staying at Karim's for two weeks.", "", "2025-05-30"),
    ("Until Monday the code is 4471.", "", "2025-05-19"),
    ("The door code is 4471 until Monday.", "", "2025-05-19"),
    ("Our new landlord from 1 June is Mrs Adeyemi.", "2025-06-01", ""),
    ("Mrs Adeyemi has been our landlord since February.", "2025-02-01", ""),
    ("Nils is off sick until Wednesday.", "", "2025-05-21"),
    ("Nils was off sick from Monday to Wednesday.", "2025-05-12", "2025-05-15"),
    ("The gym is closed until further notice.", "", ""),
    ("Hana took over the allotment in April.", "2025-04-01", ""),
    ("Hana takes over the allotment in July.", "2025-07-01", ""),
    ("Hana is taking over the allotment next month.", "2025-06-16", ""),
    ("I've been working at the bakery for two months.", "2025-03-16", ""),
    ("I worked at the bakery for two months.", "", ""),
    ("I worked at the bakery from March to May 2023.", "2023-03-01", "2023-06-01"),
    ("I was a postman between 2011 and 2016.", "2011-01-01", "2017-01-01"),
    ("I'm in Lisbon from 3 to 9 June.", "2025-06-03", "2025-06-10"),
    ("I was in Lisbon from 3 to 9 April.", "2025-04-03", "2025-04-10"),
    ("I'll be in Lisbon 3-9 June.", "2025-06-03", "2025-06-10"),
    ("My parking permit is valid until 30 September.", "", "2025-09-30"),
    ("My parking permit is valid from 1 June until 30 September.", "2025-06-01", "2025-09-30"),
    ("Petra covers the front desk until Rahel is back.", "", ""),
    ("We changed dentists in February.", "2025-02-01", ""),
    ("I switched to ING in March.", "2025-03-01", ""),
    ("I'm switching to ING in September.", "2025-09-01", ""),
    ("Since Tuesday I take the 8:15 train.", "2025-05-13", ""),
    ("Since 2019 I've had a piano.", "2019-01-01", ""),
    ("I've had a piano since 2019.", "2019-01-01", ""),
    ("I got a piano in 2019.", "2019-01-01", ""),
    ("I bought the piano two weeks ago.", "2025-05-02", ""),
    ("I sold the piano a week ago.", "2025-05-09", ""),
    ("My sister moved to Leeds last autumn.", "2024-09-01", ""),
    ("My sister is moving to Leeds this autumn.", "2025-09-01", ""),
    ("My sister is moving to Leeds in the autumn.", "2025-09-01", ""),
    ("I have a cast on my arm for six weeks.", "", ""),
    ("I'm on antibiotics for ten days.", "", "2025-05-26"),
    ("I'm on antibiotics until Sunday.", "", "2025-05-18"),
    ("I'm house-sitting for Greta for the next three weeks.", "", "2025-06-06"),
    ("Dr Okafor is away in August.", "2025-08-01", "2025-09-01"),
    ("The meeting moved to 3 June.", "", ""),
    ("The exam is on 12 June.", "", ""),
    ("Rent: 910 from July.", "2025-07-01", ""),
    ("Omar's contract ends in December.", "2025-12-01", ""),
    ("Omar's contract ended in December.", "2024-12-01", ""),
    ("Omar retires in December.", "2025-12-01", ""),
    ("Omar retired in December.", "2024-12-01", ""),
    ("Omar will retire in December.", "2025-12-01", ""),
    ("Starting next Monday I work from home on Fridays.", "2025-05-19", ""),
    ("As from 1 September the choir meets on Mondays.", "2025-09-01", ""),
    ("With effect from 1 June, Lena is our treasurer.", "2025-06-01", ""),
    ("Lena was our treasurer until April.", "", "2025-04-01"),
    ("Lena was our treasurer until April 2024.", "", "2024-04-01"),
    ("Lena has been our treasurer since April 2024.", "2024-04-01", ""),
    ("I joined the choir a year ago.", "2024-05-16", ""),
    ("I've been in the choir for a year.", "2024-05-16", ""),
    ("I'm leaving the choir in the summer.", "2025-06-01", ""),
    ("I left the choir last summer.", "2024-06-01", ""),
]
"""A sentence; the day on which what it says begins, and the day from which it holds no more; "" where it says none."""


def read_times(sentence: str) -> list[tuple[str, str]]:
    """Return begin and end of each claim of a sentence, as days; "" where it has none."""
    claims = date_claims(read_claims(sentence), sentence, TOLD, UTC)
    return [(day(claim.begins), day(claim.stops)) for claim in claims]


def day(moment: datetime | None) -> str:
    return f"{moment:%Y-%m-%d}" if moment else ""


def test_a_sentence_says_when_its_claim_begins_and_ends() -> None:
    wrong = [
        f"{sentence} is {found}, not {(begins, stops)}"
        for sentence, begins, stops in DATED
        if (begins, stops) not in (found := read_times(sentence))
    ]

    assert wrong == []


def test_what_happened_begins_before_its_note_and_what_comes_after_it() -> None:
    past = ["The rent went up to 900 in June.", "I switched to ING in June.", "Karim left ING in June."]
    ahead = ["The rent goes up to 900 in April.", "I'm switching to ING in April.", "Karim leaves ING in April."]

    assert {read_times(one)[0][0] for one in past} == {"2024-06-01"}
    assert {read_times(one)[0][0] for one in ahead} == {"2026-04-01"}


def test_the_last_day_at_work_ends_a_job_on_that_day() -> None:
    for sentence in (
        "My last day at Nordhaven is 30 June.",
        "My last day at work is 30 June.",
        "My last day is 30 June.",
    ):
        (claim,) = date_claims(read_claims(sentence), sentence, TOLD, UTC)

        assert claim.relation == "leave", sentence
        assert [ended for ended, _ in claim.ends] in (["*"], ["work at"]), sentence
        assert day(claim.begins) == "2025-06-30", sentence


def test_the_first_day_at_a_place_begins_a_job_there() -> None:
    sentence = "Today was my first day at the Kilburn delivery office as a postie."
    claims = [(one.relation, one.value) for one in date_claims(read_claims(sentence), sentence, TOLD, UTC)]

    assert ("work at", "the Kilburn delivery office") in claims


def test_a_last_day_of_something_else_ends_no_job() -> None:
    for sentence in ("The last day of the sale is 30 June.", "My last day of the antibiotics is 30 June."):
        assert not any(claim.ends for claim in read_claims(sentence)), sentence


def test_dates_of_one_clause_are_none_of_another() -> None:
    sentence = "I work at Nexum and I've lived in Oslo since 2021."
    claims = date_claims(read_claims(sentence), sentence, TOLD, UTC)

    assert {claim.relation: day(claim.begins) for claim in claims} == {"work at": "", "live in": "2021-01-01"}


def test_a_date_behind_a_mark_or_of_another_sentence_is_none_of_a_claim() -> None:
    for sentence in (
        "We got a puppy! A collie called Biscuit, born on 28 December.",
        "Angela got a place in Dunbar, two bedrooms, moving on Saturday.",
        "After the outage (12 November) Ayumi left for Leeds.",
    ):
        assert read_times(sentence)[0] == ("", ""), sentence

    assert read_times("INC-12, 6 January 2024: the turnstiles rejected every ticket.")[0] == ("2024-01-06", "")


def test_a_day_that_becomes_another_is_no_period() -> None:
    for verb in ("moved", "postponed", "pushed", "changed"):
        sentence = f"The bank {verb} the licence date from 30 June to 30 September."
        assert not any(stops for _, stops in read_times(sentence)), sentence


def test_a_length_of_time_that_no_calendar_has_is_no_date() -> None:
    for sentence in ("I've had this cold for 999 decades.", "I'm in Lisbon for the next 999 decades."):
        assert read_times(sentence) == [("", "")], sentence


def test_a_year_at_the_end_of_a_period_is_that_of_its_beginning_too() -> None:
    told = datetime(2024, 5, 16, 12, tzinfo=UTC)
    for begin, since in (("28 February", "2023-02-28"), ("February", "2023-02-01"), ("29 Feb", "2023-02-28")):
        sentence = f"I worked at the bakery from {begin} to May 2023."
        (claim,) = date_claims(read_claims(sentence), sentence, told, UTC)
        assert (day(claim.begins), day(claim.stops)) == (since, "2023-06-01"), sentence
    sentence = "I worked at the bakery from 28 February to 3 May 2023."
    (claim,) = date_claims(read_claims(sentence), sentence, told, UTC)

    assert (day(claim.begins), day(claim.stops)) == ("2023-02-28", "2023-05-04")
