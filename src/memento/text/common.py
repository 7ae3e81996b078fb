"""Capitalised or not, these words name nothing: roles, titles, greetings, currencies, and words that often open a sentence."""

from __future__ import annotations

from memento.text.words import FUNCTION_WORDS, MONTHS, WEEKDAYS, word_set

RELATIVES = word_set("""
    mom mum mother dad father mama papa grandma grandpa grandmother grandfather aunt uncle brother sister son daughter
    cousin nephew niece wife husband spouse partner girlfriend boyfriend fiancé fiancée fiance fiancee friend buddy
    roommate flatmate housemate neighbour neighbor colleague coworker co-worker teammate mentor mentee boss manager
    supervisor advisor adviser professor teacher coach trainer doctor dentist therapist landlord landlady lawyer
    accountant student kid child baby twin ex auntie uncle granny gran nan nana grandad granddad grandson
    granddaughter stepmother stepfather stepson stepdaughter client
    """)
ONE_OF_A_KIND = word_set("""
    mom mum mother dad father wife husband spouse partner girlfriend boyfriend fiancé fiancée fiance fiancee boss
    manager supervisor landlord landlady parents grandparents in-laws
    """)
"""Relatives and others of whom one has one at a time: what is said of "my wife" is said of the same person."""

TITLES = word_set(
    "mr mrs ms miss dr prof professor sir madam lord lady captain president chancellor senator minister king "
    "queen saint"
)
ROLES = word_set("""
    ceo cto cfo coo cio cmo cpo vp svp evp pm hr qa md phd ba bs msc bsc mba sre swe director head chief officer
    manager engineer developer designer analyst architect consultant founder co-founder cofounder lead leader senior
    junior principal staff intern teacher nurse scientist researcher chair chairman chairwoman secretary treasurer
    partner product marketing sales engineering
    """)
JOBS = word_set("""
    engineer developer programmer designer manager director analyst architect consultant scientist researcher teacher
    professor lecturer nurse doctor physician surgeon dentist pharmacist lawyer attorney paralegal judge accountant
    auditor banker broker trader economist statistician journalist editor-in-chief reporter copywriter translator
    interpreter librarian archivist curator chef baker barista waiter waitress bartender electrician plumber carpenter
    mechanic technician pilot firefighter policeman psychologist therapist psychiatrist physiotherapist veterinarian
    vet biologist chemist physicist mathematician geologist astronomer recruiter administrator assistant secretary
    receptionist salesperson marketer strategist planner freelancer contractor postdoc instructor tutor principal dean
    officer sre devops cto ceo cfo coo cpo pm lead founder co-founder cofounder vp swe intern trainee apprentice
    supervisor coordinator specialist advisor owner president head
    """)
"""Head nouns of a job title."""

PEOPLES = word_set("""
    english german french spanish italian portuguese dutch swedish norwegian danish finnish polish czech russian
    ukrainian greek turkish hungarian romanian bulgarian croatian serbian arabic hebrew persian farsi hindi urdu
    bengali tamil telugu punjabi chinese mandarin cantonese japanese korean vietnamese thai indonesian malay tagalog
    swahili latin catalan basque irish welsh scottish british american canadian australian brazilian mexican
    argentinian indian european asian african austrian swiss belgian egyptian israeli nigerian kenyan christian muslim
    jewish buddhist hindu catholic protestant american-style esperanto
    """)
LANGUAGES = PEOPLES - word_set("""
    british american canadian australian brazilian mexican argentinian indian european asian african austrian swiss
    belgian egyptian israeli nigerian kenyan christian muslim jewish buddhist hindu catholic protestant american-style
    scottish
    """)
_MISC = word_set("""
    usd eur gbp jpy chf cad aud inr euro euros dollar dollars pound pounds bitcoin ok okay fyi btw asap lol omg imo
    imho tbh eta tbd tba todo faq diy am pm utc gmt cet est pst edt pdt tv id pc pdf url api apis sdk ui cpu gpu gpus
    cpus ram ssd iq q1 q2 q3 q4 kpi kpis okr okrs nda eod eow cv rip ps dm dms vr ar iot b2b b2c ngo lgbtq lgbtq+
    covid covid-19 ii iii iv vi vii user christmas easter thanksgiving halloween hanukkah ramadan diwali new-year god
    internet bachelor bachelors master masters degree monday-friday xmas gym yes no mba phd readme http https www
    wi-fi wifi ci cd ux bbq cto's pto ooo wfh ac tl;dr tldr gp er icu rsvp cli valentine valentines codename codenamed standup
    stand-up retro kickoff eve mondays tuesdays wednesdays
    thursdays fridays saturdays sundays
    """)
_GREETINGS = word_set("""
    hi hello hey thanks thank yeah yep nope wow oh ah haha hmm welcome bye goodbye cheers congrats congratulations
    sure great good nice cool awesome amazing sorry please right absolutely totally exactly agreed glad happy sounds
    looks seems omg yay ugh whoa gosh aww aw yup nah huh remember note reminder correction update fact facts todo
    question answer reply fyi hope
    """)
COMMON = word_set("""
    work home school life love time day days week month year years morning evening night dinner lunch breakfast coffee
    tea food water money rent news music dance dancing art weather summer winter spring autumn fall people family
    friends kids children parents men women man woman girl boy guy guys team teams company project projects meeting
    meetings launch release deadline plan plans goal goals idea ideas thing things stuff place places house apartment
    flat room office kitchen garden car bike bus train plane flight trip travel vacation holiday weekend birthday
    wedding party game games book books movie movies film films song songs photo photos picture pictures story stories
    dog dogs cat cats pet pets health sleep exercise training practice class classes course courses lesson exam test
    tests code data version server app website page email phone number address name names age size price cost budget
    salary job jobs career boss customer customers client clients user users part parts end start beginning half
    part-time full-time full first second third last next next-door new old big small long short best better worst
    favourite favorite main current former previous total overall top two three four five six seven eight nine ten
    hundred lots most many much more less few several both each every everyone everything someone something nothing
    anyone anything maybe perhaps instead besides meanwhile however therefore although while since before after during
    until unless because due thanks thus hence according back here there now today tomorrow yesterday tonight recently
    lately finally currently originally eventually suddenly luckily unfortunately hopefully honestly basically
    apparently clearly obviously probably definitely seriously speaking talking looking going getting making taking
    being having doing seeing feeling knowing living working used based given self kind sort type way ways lot bit
    pair piece nature beauty peace joy fun hard easy early late true false real red green blue black white dark light
    high low hot cold warm open close support help advice feedback progress success failure change changes problem
    problems issue issues bug bugs feature features note notes memory memories list lists item items step steps option
    options rule rules point points reason reasons result results report reports section title introduction summary
    conclusion status agenda minutes action actions decision decisions task tasks chapter volume tabs spaces
    python-like never always dear ex old-school remote hybrid freelance tickets ticket rehearsal choir training
    lunchtime afternoon appointment appointments painting hiking running swimming reading
    writing cooking gardening yoga-class swim run walk sun moon rain snow sea ocean beach mountain mountains city town
    village country world earth pizza sushi pasta bread cheese milk sugar salt wine beer vegetarian vegan allergic
    gluten gluten-free dairy passport insurance visa-free tax taxes
    """)
"""Words that open a sentence with a capital and yet name nothing."""

NEVER = (
    FUNCTION_WORDS
    | frozenset(MONTHS)
    | frozenset(WEEKDAYS)
    | TITLES
    | ROLES
    | RELATIVES
    | _MISC
    | _GREETINGS
    | word_set("ip url")
)
"""Words that are no name wherever they stand."""
