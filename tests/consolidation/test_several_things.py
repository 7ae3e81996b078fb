"""
What ends and what stands together: the plumber for the office is not the plumber for the flat.

Each line is a pair of notes, one after the other, in the words of people of several trades.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from measure import fresh_memory
from memento.consolidation import context
from memento.consolidation.agents import Existing, Held
from memento.consolidation.context import load_existing
from memento.consolidation.endings import judge
from memento.iris import IRI
from memento.model import NoteRow
from memento.text.claims import read_claims

STAND_TOGETHER = """
The plumber for the office is Ken Ito. | The plumber for the flat is Lia Moss.
The deadline for the grant is 3 May. | The deadline for the report is 9 May.
My appointment with Dr Amsel is on Tuesday. | My appointment with Dr Weiss is on Friday.
The price of the red paint is 20. | The price of the blue paint is 25.
My login at Gitea is anab. | My login at Jira is ana2.
The key to the cellar is with Tom. | The key to the attic is with Mia.
The meeting with Karl is at 9. | The meeting with Lena is at 10.
The lid of the big pot is broken. | The lid of the small pot is fine.
The tenant on the first floor is Ana Ruiz. | The tenant on the second floor is Bo Lind.
My cousin in Porto is Rui. | My cousin in Lyon is Claire.
The contact at Siemens is Jo Park. | The contact at Bosch is Eva Lund.
The colour of the kitchen wall is sage. | The colour of the bath wall is white.
My size in shoes is 42. | My size in shirts is M.
The speaker on Monday is Ana Ruiz. | The speaker on Friday is Bo Lind.
The fee for members is 20. | The fee for guests is 35.
My score in round 1 was 80. | My score in round 2 was 95.
The driver for the morning run is Sal. | The driver for the evening run is Pia.
The recipe for bread needs 500 g flour. | The recipe for cake needs 200 g flour.
The bus to Linz leaves from bay 4. | The bus to Graz leaves from bay 6.
The vet for the cats is Dr Koh. | The vet for the horse is Dr Mayr.
The boiler in the flat is a Vaillant. | The boiler in the shop is a Bosch.
Our gardener in summer is Tom. | Our gardener in winter is Pat.
The warranty for the fridge ends in 2027. | The warranty for the oven ends in 2029.
The landlord of the studio is Mr Cho. | The landlord of the workshop is Ms Abt.
The dosage for Rex is 2 pills. | The dosage for Luna is 1 pill.
The captain of the A team is Ana. | The captain of the B team is Bo.
Mum's phone is 0151 222. | Dad's phone is 0151 333.
The rent for the studio is 700. | The rent for the garage is 90.
My boss at the bakery is Ingrid. | My boss at the gym is Pavel.
The office manager in Leeds is Ann Poe. | The office manager in York is Raj Das.
My dentist for the kids is Dr Lenz. | My own dentist is Dr Abel.
The lecture on Kant is on Monday. | The lecture on Hegel is on Thursday.
The charger for the laptop is in the blue bag. | The charger for the camera is in the drawer.
The best man at Tom's wedding is Leo. | The best man at Ben's wedding is Sam.
The battery in the smoke alarm is a 9 V block. | The battery in the remote is an AAA.
My tutor for maths is Nora Bell. | My tutor for German is Uwe Kahn.
The starter with soup costs 6. | The starter with salad costs 7.
Our guide in Cairo was Amr. | Our guide in Luxor was Nadia.
Payment for invoice 17 is due on 3 May. | Payment for invoice 18 is due on 9 May.
The window in the bathroom is stuck. | The window in the hall is broken.
The filter in tank 1 is new. | The filter in tank 2 is clogged.
The recipe book is with Hanna. | The atlas is with Kofi.
Locker 12 is Mia's. | Locker 13 is Ada's.
My shift on Monday is at 7. | My shift on Sunday is at 9.
The dose in the morning is 20 mg. | The dose in the evening is 40 mg.
The oil for the chainsaw is on the top shelf. | The oil for the mower is under the bench.
My locker at the gym is 44. | My locker at work is 12.
The heating in the barn is oil. | The heating in the house is gas.
The trainer for beginners is Ole. | The trainer for seniors is Inge.
Our supplier for flour is Molino Verde. | Our supplier for sugar is Zuckerl.
My account with the bank is 4411. | My account with the broker is 9922.
The name of the cat is Mop. | The name of the dog is Rex.
Bay 3 is for Sal. | Bay 4 is for Pia.
Group A meets in hall 2. | Group B meets in hall 5.
My seat in the choir is in row 2. | My seat in the cinema is in row 9.
The first violin is Ida. | The second violin is Per.
The home team's coach is Lund. | The away team's coach is Falk.
The plumber is Ken Ito. | The electrician is Lia Moss.
The north gate is shut. | The south gate is open.
Lunch on Friday is at Nando. | Lunch on Saturday is at Kim.
Grandma's house is in Bath. | Grandpa's house is in Hull.
The contract with Vodafone costs 30 a month. | The contract with Aral costs 55 a month.
The printer on floor 2 is a Brother. | The printer on floor 3 is a Canon.
Our anniversary is on 3 June. | Mum's birthday is on 5 June.
The code for Anna's door is blue7. | The code for Ben's door is red9.
My physio for the knee is Lars. | My physio for the back is Edda.
The interest on the loan is 4 %. | The interest on the savings is 2 %.
The lead on Osprey is Ana. | The lead on Kestrel is Bo.
The train to Graz is at 8:15. | The train to Linz is at 9:40.
The crate 3 is in hall 3. | The crate 4 is in hall 4.
Ticket 451 is in queue 3. | Ticket 452 is in queue 5.
My flat 4 tenant is Ana. | My flat 5 tenant is Karl.
Bed 3: Mr Olsen | Bed 4: Mrs Park
Hive 2 is queenless. | Hive 3 is strong.
Room 12 is booked by Ana. | Room 14 is booked by Karl.
Anna is married to Piet. | Piet is called Pete at work.
My brother is Karl. | Karl is called Charlie by his mates.
My bike is a Gazelle. | My bike is in the garage now.
The north barn vet is Dr Koh. | The south barn vet is Dr Lund now.
We meet at the pub. | From now on we meet at seven.
I work at the clinic in Bath. | I now work on Saturdays.
I swim at the lido. | I now swim on Wednesdays.
My train is the 8:15. | I changed trains at Linz.
My seat in the hall is 14C. | We switched seats on the plane.
Our supplier for flour is Molino. | We switched suppliers for sugar to Zuckerl.
I live in Rome. | I live on Elm Street now.
I keep a diary in the drawer. | I keep a diary at work.
My flatmate is Jonas. | My neighbour is Petra.
I keep my bike in the cellar. | I keep my skis in the attic.
I take 20 mg of sertraline. | I take 10 mg of melatonin.
I'm reading Middlemarch. | I'm watching Severance.
I'm learning Dutch. | I speak French.
My car is a blue Polo. | My sister's car is a Leaf.
The shop opens at nine. | The shop closes at six.
We use MySQL. | We use Redis for the cache.
Tom is dating Ana. | Tom met Ben for lunch.
Lea's teacher is Mrs Falk. | Ida's teacher is Mr Ost.
I have an appointment on Friday at 10. | I have an appointment on Monday at 3.
Karim lives in Lyon. | Karim visited Nantes.
Karim lives in Lyon. | Karim's brother moved to Nantes.
My rent is 700. | The rent in Paris is crazy.
My vet is on Mill Road. | My vet is Dr Amsel.
I rent a room from Mrs Bell. | I rent a garage on Canal Street.
Leo is 6. | Leo is tall.
Leo is 6. | Mia turned 7.
I work at the museum. | I went to the museum on Sunday.
I live in Bonn. | I was in Lyon last week.
My dog is Rex. | My dog is a poodle.
My sister is a nurse. | My sister is pregnant.
My brother is Tom. | My brother is in Rome.
I like tea. | I like coffee.
Ana leads Osprey. | Ana joined the board.
My mum is in hospital. | My dad is at home.
The printer is broken. | The scanner is new.
The meeting is on Tuesday. | The party is on Friday.
The car is red. | The car is fast.
We have two cats. | We have a garden.
The trip costs 400. | The flight costs 120.
I drive a Golf. | I ride a Honda on weekends.
"""

CHANGED = """
The plumber for the office is Ken Ito. | The plumber for the office is Lia Moss.
The deadline for the grant is 3 May. | The deadline for the grant is now 9 May.
My appointment with Dr Amsel is on Tuesday. | My appointment with Dr Amsel moved to Friday.
My login at Gitea is anab. | My login at Gitea is ana2 now.
The key to the cellar is with Tom. | The key to the cellar is with Mia now.
The rent for the studio is 700. | The rent for the studio went up to 750.
My boss at the bakery is Ingrid. | My new boss at the bakery is Pavel.
My boss at the bakery is Ingrid. | My new boss is Pavel.
My boss at the bakery is Ingrid. | My boss is now Pavel.
My boss is Ingrid. | My boss at the bakery is Pavel now.
Rent for the flat is 900. | Rent for the flat is 950 from May.
The meeting with Karl is at 9. | The meeting with Karl is at 10 now.
Ticket 451 is in queue 3. | Ticket 451 is in queue 5.
Room 12 is booked by Ana. | Room 12 is booked by Karl now.
My flat 4 tenant is Ana. | My flat 4 tenant is Karl.
Our gas provider is Vattenfall. | We changed gas providers to Eon.
My dentist is Dr Koh. | I changed dentists.
The bike is in the cellar. | The bike is in the garage now.
The rent for the studio is 700. | The studio rent went up to 750.
We meet at the town hall. | From now on we'll meet at Ola's.
Our cat is called Mop. | We renamed Mop to Dusty.
Our project is called Heron. | Heron is now called Osprey.
My flatmate is Jonas. | Jonas moved out, my flatmate is now Petra.
I keep my bike in the cellar. | The bike is in the garage now.
We meet in the library. | From now on we meet at Ola's place.
My therapist is Dr Bloom. | I switched therapists, it's Dr Haas now.
I'm reading Middlemarch. | I finished Middlemarch.
I'm learning Dutch. | I gave up on Dutch.
The project is called Heron. | Heron was renamed to Osprey.
My car is a blue Polo. | I traded the Polo in for a Leaf.
The shop opens at nine. | The shop now opens at eight.
My favourite band is Low. | My favourite band these days is Lankum.
I work part-time at the museum. | I left the museum.
Our budget is 5,000. | The budget was cut to 4,000.
My phone is a Pixel 6. | Got a new phone, a Fairphone 5.
We use MySQL. | We migrated from MySQL to Postgres.
Tom is dating Ana. | Tom and Ana broke up.
Tom is married to Ana. | Tom and Ana got divorced.
My Netflix costs 12 a month. | Netflix is 15 a month now.
The cat is on a diet. | The cat is no longer on a diet.
Lea's teacher is Mrs Falk. | Lea's new teacher is Mr Ost.
I have an appointment on Friday at 10. | My appointment was cancelled.
I'm allergic to cats. | It turns out I'm not allergic to cats.
The password hint is kettle. | The password hint is now tulip.
The dog sleeps in the kitchen. | The dog sleeps in the hall now.
We are four in the band. | We are five in the band now.
Karim lives in Lyon. | Karim has moved to Nantes.
Our landlord is Mr Cho. | The house was sold, the new landlord is Ms Abt.
The wifi is called Alpen. | The wifi is now called Berg.
I don't drink coffee. | I drink coffee again.
My boss is Ingrid. | Ingrid retired, Pavel is my boss now.
My gym is PureGym. | I changed gyms to FitOne.
Our bank is Sparkasse. | We switched banks to ING.
My son is in third grade. | My son is in fourth grade now.
Leo is 6. | Leo turned 7.
"""


def hold(text: str) -> Iterator[Held]:
    """What a memory of a text holds."""
    for number, claim in enumerate(read_claims(text)):
        yield Held(
            iri=IRI(f"urn:memento:claim:{number}"),
            memory=IRI("urn:memento:memory:1"),
            owner=claim.owner,
            relation=claim.relation,
            value=claim.value,
            since=datetime(2025, 1, 1, tzinfo=UTC),
            polarity=claim.polarity,
            mood=claim.mood,
            is_event=claim.is_event,
            kind=claim.kind,
            span=(claim.start, claim.end),
            complement=claim.complement,
            is_place=claim.is_place,
        )


def ends(pair: str) -> bool:
    before, after = pair.split(" | ")
    return any(judge(claim, held).ends for claim in read_claims(after) for held in hold(before))


@pytest.mark.parametrize("pair", STAND_TOGETHER.strip().splitlines())
def test_what_is_said_of_one_of_several_things_ends_nothing_of_another(pair: str) -> None:
    assert not ends(pair)


@pytest.mark.parametrize("pair", CHANGED.strip().splitlines())
def test_what_changes_of_one_of_several_things_ends_what_was_so_of_it(pair: str) -> None:
    assert ends(pair)


NAMES = [
    f"{one}{other}"
    for one in ("Bo", "Ka", "Li", "Mu", "Ne", "Po")
    for other in ("mer", "lan", "dit", "ros", "kel", "fun", "gar")
]


@pytest.mark.parametrize(
    ("form", "most"),
    [
        ("I met {} at the harbour.", 6),
        ("The box with {} is in the hall.", 6),
        ("Crate {1} is in hall {1}.", 6),
        ("The box with {0} is in the hall. I like {0}.", 9),
    ],
)
def test_a_note_is_compared_with_few_of_those_that_resemble_it(
    form: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[int] = []

    def count(iris: Sequence[IRI], *more: Any) -> list[Existing]:
        compared.append(len(iris))
        return load_existing(iris, *more)

    monkeypatch.setattr(context, "load_existing", count)
    with fresh_memory("trigram") as memento:
        memento.intake.import_notes([NoteRow(content=form.format(NAMES[number], number)) for number in range(1, 41)])
    assert len(compared) == 40
    assert max(compared) <= most


@pytest.mark.parametrize(
    "pair",
    [
        "We meet in the library. | From now on we meet at Ola's place.",
        "The rent for the studio is 700. | The studio rent went up to 750.",
        "The studio rent is 700. | The rent for the studio went up to 750.",
        "My boss at the bakery is Ingrid. | My new boss is Pavel.",
        "My boss is Ingrid. | My boss at the bakery is Pavel now.",
        "My Netflix costs 12 a month. | Netflix is 15 a month now.",
        "Our project is called Heron. | Heron is now called Osprey.",
        "My son is in third grade. | My son is in fourth grade now.",
    ],
)
def test_what_a_note_may_end_is_found_whatever_it_is_called(pair: str) -> None:
    before, after = pair.split(" | ")
    with fresh_memory("trigram") as memento:
        [old] = memento.note(before, at="2025-01-05").memories
        memento.note("I like tea.", at="2025-02-05")
        assert memento.note(after, at="2025-06-05").invalidated == (old,)
