"""What a noun says of the kind of what it is said of: `KIND_OF_NOUN["café"]` → "Organization"."""

from __future__ import annotations

from collections.abc import Mapping

from memento.model import EntityKind
from memento.text.common import JOBS, RELATIVES
from memento.text.gazetteer import EVENT_WORDS
from memento.text.words import word_set

_NOUNS: Mapping[EntityKind, str] = {
    "Person": """
        man woman guy girl boy lady person human kid child baby toddler writer author painter singer actor actress
        musician artist poet philosopher guitarist drummer pianist player striker goalkeeper runner climber dog puppy
        cat kitten rabbit hamster parrot horse pony tortoise budgie corgi beagle labrador poodle retriever terrier
        dachshund spaniel collie mutt tabby greyhound bulldog freshman sophomore postdoc alumnus leader mentor tutor
        nanny babysitter sitter handyman plumber contact tenant lodger bandmate classmate godson goddaughter godfather godmother
        cyclist bassist cellist violinist organist trumpeter saxophonist conductor hairdresser barber optician physio
        chiropractor
        osteopath midwife gardener cleaner builder decorator caretaker treasurer goalie referee newborn grandchild
        foal mare stallion
        hen goldfish ferret gecko canary cockatiel guide host driver courier mate bloke chap lad teenager gp
        paediatrician master
                """,
    "Organization": """
        company startup start-up firm agency consultancy bank university college school kindergarten daycare nursery
        institute hospital clinic practice charity ngo nonprofit foundation association club choir band orchestra team
        league union party ministry department authority council shop store supermarket bakery brewery restaurant café
        cafe bistro pub bar pizzeria diner deli bookshop bookstore gym studio publisher newspaper magazine label
        manufacturer supplier vendor retailer employer customer client insurer airline carrier provider co-op
        cooperative scale-up unicorn spin-off spinoff subsidiary chain brand lab community meetup-group church parish
        academy hotel hostel newsroom broadcaster podcast-network accelerator incubator place spot joint eatery fund
        investor competitor rival
        salon barbershop pharmacy garage taproom roastery coffeehouse winery distillery bookmaker builders caterer
        printers solicitors practice group quartet trio ensemble troupe committee market stall food-truck
        dealership co-working makerspace hackerspace cinema creche preschool
                """,
    "Project": """
        project initiative rewrite prototype side-project codebase repo repository product feature campaign programme
        program redesign experiment venture game-jam rollout mvp spike hack fork side-hustle
                """,
    "Technology": """
        tool library framework language editor ide app application software database plugin extension package module
        service api sdk browser phone smartphone laptop tablet camera console keyboard printer router server compiler
        engine bot chatbot model llm website platform protocol format terminal shell distro os system
        device cli script gadget printer drone watch smartwatch e-reader headphones monitor mouse synth synthesizer spreadsheet
        assistant linter formatter debugger profiler car van camper campervan motorbike scooter bike bicycle e-bike tractor
        moped motorcycle vacuum telescope lens drill mixer thermostat dashboard kernel cms crm firewall vpn parser renderer wiki
        handheld gamepad projector turntable amplifier headset earbuds charger modem chip orm runtime toolkit
                """,
    "Location": """
        city town village country island region province state county district neighbourhood neighborhood suburb street
        road square park lake river mountain beach valley forest airport station museum castle cathedral theatre theater
        stadium quarter area capital resort campsite peninsula bay harbour harbor building tower venue trail canal
        hill peak glacier
        pass cave waterfall garden cemetery reserve warehouse playground pool farm ranch hut lodge villa cottage lane
        avenue marina
        borough settlement coast fjord canyon desert hamlet allotment crag pier quay dock hall
                """,
    "Event": " ".join(sorted(EVENT_WORDS))
    + " race tournament concert gig exhibition ceremony party fundraiser picnic seminar reunion"
    " bootcamp premiere hackday match",
    "Concept": """
        book novel film movie series show song album poem play podcast musical opera paper essay theory method
        technique dish recipe sport discipline game comic manga anime sitcom memoir trilogy newsletter blog zine ballet
        documentary miniseries thriller biography saga diet cocktail cheese dessert soup stew pastry cake wine beer
        religion philosophy
        dance symphony sonata painting sculpture poem webcomic album ep single audiobook textbook course exam
        certificate language
                """,
}
KIND_OF_NOUN: Mapping[str, EntityKind] = {
    noun: kind for kind, nouns in reversed(list(_NOUNS.items())) for noun in word_set(nouns)
} | dict.fromkeys(RELATIVES | JOBS - {"lead", "head", "model", "principal", "officer"}, "Person")
"""What something is of which the note says "a …"; the first kind above wins for a noun that several have."""
