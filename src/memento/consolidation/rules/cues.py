"""
What the words around a name say of its kind: "a startup called …", "moved to …", "…, our new designer", "… and her husband".

Each table is tried in order; a pattern of `BEFORE` ends where the name begins, one of `AFTER` begins where it ends.
"""

from __future__ import annotations

import re
from typing import cast

from memento.consolidation.rules.common import JOBS, RELATIVES
from memento.consolidation.rules.gazetteer import EVENT_WORDS
from memento.consolidation.rules.nouns import KIND_OF_NOUN
from memento.model import EntityKind


def one_of(words: frozenset[str]) -> str:
    """An expression for any of some words, the longest first."""
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))


RELATIVE = one_of(RELATIVES)
JOB = one_of(JOBS)

_NOUN = one_of(frozenset(KIND_OF_NOUN))
NOUN_BEFORE = re.compile(
    rf"\b(?P<noun>{_NOUN})(?:\s+(?:is\s+|was\s+|are\s+)?(?:called|named"
    rf"|known\s+as)|\s+is|['’]s\s+(?:called|named)|['’]s\s+name\s+is|,|:)?\s+(?:the\s+)?[\"“]?$",
    re.I,
)
NOUN_AFTER = re.compile(
    rf"^[\"”]?(?:,(?:\s+(?:it|that|this|he|she|which)(?:['’]s|\s+is|\s+was))?|\s+(?:is|was|isn['’]t|wasn['’]t"
    rf"|is\s+not|is\s+now|['’]s|became"
    rf"|has\s+been|\())?\s*(?:['’]s\s+)?(?:an?"
    rf"|the|our|my|his|her|their|USER['’]s)\s+(?:[\w'’/-]+\s+){{0,3}}?"
    rf"(?P<noun>{_NOUN})s?\b(?!['’])",
    re.I,
)
NOUN_NEXT = re.compile(rf"^\s+(?P<noun>{_NOUN})s?\b(?!['’])", re.I)

PERSON_BEFORE = re.compile(
    rf"\b(?:{RELATIVE})s?(?:\s+(?:is|was|are|named|called|is\s+called|is\s+named)|['’]s\s+name\s+is|,|:)?\s*$"
    r"|\b(?:mr|mrs|ms|miss|dr|prof|professor|sir|lord|lady|captain|uncle|aunt|auntie|grandma|grandpa)\.?\s+$"
    r"|(?-i:\b(?:CEO|CTO|CFO|COO|VP|[Dd]irector|[Ff]ounder|[Aa]uthor|[Aa]ctor|[Ss]inger))\s+$"
    rf"|\b(?:{JOB})(?:\s+of\s+[a-z]+)?(?:\s+(?:is|was|named|called|is\s+called|there\s+is|now\s+is|is\s+now)|,|:)\s*$",
    re.IGNORECASE,
)

_TALK = (
    r"met|meet|meets|meeting|call(?:ed)?|lunch|dinner|coffee|breakfast"
    r"|drinks|tea|chat(?:ted|ting)?|talk(?:ed|ing)?|spoke|speak|speaking"
    r"|wedding|date|session|appointment|interview|walk|trip|holiday"
    r"|together|catch(?:ing)?\s+up|caught\s+up|hang(?:ing)?\s+out|hung\s+out"
    r"|live|lives|living|lived|office|flat|apartment|share[sd]?|stay(?:ed"
    r"|ing)?|work(?:s|ed|ing)?|argued|fight|row|broke\s+up|split\s+up"
    r"|split|engaged|play(?:s|ed|ing)?|train(?:s|ed|ing)?|climb(?:s|ed|ing)?|run|ran|went|go|going|was|is|am|been"
)
BEFORE: tuple[tuple[EntityKind, re.Pattern[str]], ...] = tuple(
    (
        cast(EntityKind, kind),
        re.compile(rf"(?:^|[\s(\"“])(?:{words})\s+(?:(?:the|an?|our|their)\s+)?[\"“]?$", re.IGNORECASE),
    )
    for kind, words in (
        (
            "Project",
            r"project(?:s)?(?:\s+(?:called|named|is|:))?|codenamed?|code[- ]named?|working\s+on|works?\s+on"
            r"|worked\s+on|the\s+launch\s+of|the\s+release\s+of|launch(?:ed|ing)?|shipping|shipped|ship|side\s+project"
            r"|repo(?:sitory)?|app\s+called|product\s+called|building|rebuilding"
            r"|rewriting|rewrote|refactoring|refactored|prototyping"
            r"|roadmap\s+(?:of|for)|the\s+deadline\s+(?:of|for)|deadline\s+(?:of"
            r"|for)|rollout\s+of|rolling\s+out|kick(?:ed|ing)\s+off"
            r"|finished\s+building|contribut\w+\s+to|maintain(?:s|ed|ing)?|milestone\s+(?:of"
            r"|for)|budget\s+(?:of|for)|blocked\s+on",
        ),
        (
            "Event",
            r"conference(?:\s+called)?|attend(?:ed|ing|s)?|(?:speak|speaks|spoke|speaking|talk|keynote|panel"
            r"|poster|presented|presenting|present|booth|volunteer(?:ed|ing)?)\s+at"
            r"|register(?:ed|ing)?\s+for|sign(?:ed|ing)?\s+up\s+for"
            r"|(?:talk|keynote|panel|poster|presented|tutorial)\b[^.;,]{0,40}\s+at|tickets?\s+(?:\w+\s+)?(?:for|to)"
            r"|excited\s+(?:for|about)|submitted\s+(?:\w+\s+){0,3}to|back\s+from\s+the",
        ),
        (
            "Organization",
            r"(?:work|works|worked|working|job|role|position|internship|interned|intern|interview|interviewed"
            r"|interviewing|offer|employed|hired|career|engineer|developer|designer"
            r"|manager|scientist|analyst|consultant|researcher"
            r"|professor|teacher|nurse|lead|colleague|colleagues|director|started"
            r"|starting|start|studied|study|studying|studies|student"
            r"|enrolled|contract(?:s|ed|ing)?|freelanc\w+|consult(?:s|ed|ing)?"
            r"|driv(?:es?|ing)|bank(?:s|ed|ing)?|insured|trial|shifts?)"
            r"\s+(?:at|for|with|by|from)"
            r"|joined|joining|joins|join|rejoined|hired\s+by|left|quit|leaving|employer\s+is|company(?:\s+(?:is|called|named))?"
            r"|startup(?:\s+called)?|(?:ceo|cto|cfo|coo|founder|co-founder|owner"
            r"|head|member|members|board|alumnus|customer|client)\s+of"
            r"|founded|co-founded|as\s+[\w\s]{2,40}?\s+(?:at|for)|acquired(?:\s+by)?"
            r"|client(?:\s+is)?|customer|graduated\s+from|degree\s+(?:from|at)"
            r"|(?:resigned|retired|fired)\s+from|laid\s+off\s+(?:from|by)|let\s+go\s+(?:from"
            r"|by)|partnered\s+with|employees\s+of|shares\s+(?:of|in)"
            r"|invested\s+in|volunteer(?:s|ed|ing)?\s+for|now\s+at|(?:i['’]m"
            r"|i\s+am|back|is|he['’]s|she['’]s)\s+(?:back\s+|now\s+|still\s+)?at"
            r"|account\s+(?:at|with|from)|contract\s+with|organi[sz]ed\s+by"
            r"|sponsored\s+by|run\s+by|owned\s+by|funded\s+by|offer\s+from"
            r"|(?:order|rent|hir|collect)\w*\s+(?:\w+\s+){0,4}from|got\s+(?:an?|my|our)\s+(?:\w+\s+){1,3}from"
            r"|(?:kids?|sons?|daughters?|children|twins|boys|girls)\s+(?:goes|go|went|is|are|starts?|started)\s+(?:to"
            r"|at)|bought\s+(?:\w+\s+){1,4}from|subscribed\s+to|subscription\s+to|share\s+(?:of|in)"
            r"|over\s+at|folks\s+at|people\s+at|team\s+at|call(?:ed)?\s+from"
            r"|employed\s+(?:by|at)|transfer(?:red)?\s+to|applied\s+(?:to|at)"
            r"|accepted\s+(?:at|by)|admitted\s+(?:to|at)|(?:work\w*|shifts?|job|waitress\w*|bartend\w*"
            r"|volunteer\w*)\s+(?:\w+\s+){0,2}at"
            r"|(?:treasurer|president|chair\w*|secretary|captain|trustee|patron|fan|graduate|subscriber)\s+of"
            r"|(?:coach(?:es|ed|ing)?|goalkeeper|striker|drummer|sing(?:s|ing)?|sang)\s+(?:for|with|in)|plays?\s+for"
            r"|(?:grant|award|scholarship|funding|invoice|letter|refund|quote|delivery|mortgage|loan)\s+from"
            r"|signed\s+with|renewed\s+with"
            r"|booked\s+(?:\w+\s+){0,3}(?:with|through)|"
            r"(?:phd|master['’]?s|bachelor['’]?s)\s+(?:at|from)",
        ),
        (
            "Location",
            r"(?:live|lives|lived|living|based|born|raised|grew\s+up|located|headquartered|resides?|residing"
            r"|stay|stayed|staying|office|apartment|flat|house|home|cottage"
            r"|cabin|vacation|holiday|arrived|landed|settled|stuck|retired"
            r"|headquarters|hq|conference|meetup|place|rent(?:ed|ing)?|bought\s+a\s+\w+"
            r"|school|hiking|camping|skiing|surfing)\s+(?:is\s+)?(?:in|at|on)"
            r"|(?:move|moves|moved|moving|relocate|relocated|relocating|travel|travels|traveled|travelled"
            r"|traveling|travelling|trip|flew|fly|flies|flying|flight|drive"
            r"|drove|driving|emigrated|immigrated|cycled|hiked|sailed"
            r"|going|went|go|been|train|ferry|bus|tickets?|commut\w+|headed"
            r"|heading|off|return(?:ed|ing)?|came|come|coming)\s+(?:back\s+|over\s+|down\s+|up\s+)?(?:to|from)"
            r"|visit|visits|visited|visiting|city\s+of|town\s+of|capital\s+of|(?:i['’]m|i\s+am|is|are|comes?|came"
            r"|originally|he['’]s|she['’]s)\s+(?:originally\s+)?from|near|outside"
            r"|around|north\s+of|south\s+of|east\s+of|west\s+of|explored|toured|(?:hiked|climbed|cycled|drove|swam"
            r"|skied|sailed)\s+(?:up|down|around|along|through|across|over|past)|climbed|leaving\s+for",
        ),
        (
            "Technology",
            r"(?:writ\w+|wrote|track\w*|tak(?:e|es|ing)\s+\w*\s*notes|keep\w*|draft\w*|edit\w*|draw\w*"
            r"|model\w*)\s+(?:\w+\s+){0,4}in"
            r"|use|uses|used|using|code\s+in|coding\s+in|written\s+in|write|program\s+in"
            r"|programming\s+in|rewriting\s+(?:\w+\s+){1,3}in"
            r"|rewrote\s+(?:\w+\s+){1,3}in|install|installed|installing|deploy(?:ed|s)?\s+(?:on|to|with)|built\s+(?:with|on|in)"
            r"|(?:switched|switching|migrated|migrating|upgraded|swapped|switch|migrate)\s+(?:\w+\s+){0,3}?(?:to|from|for)"
            r"|editor(?:\s+is)?|database(?:\s+is)?|framework(?:\s+is)?|library|language(?:\s+is)?|runs?\s+on|running\s+on"
            r"|version\s+of|powered\s+by|stack\s+is|uninstalled|laptop\s+is"
            r"|phone\s+is|bought\s+(?:myself\s+)?(?:a|an)\s+new|playing\s+with"
            r"|tinkering\s+with|experimenting\s+with|trying\s+out|tried\s+out"
            r"|swears?\s+by|ditched|drives?\s+an?|on\s+my\s+new|debugging|configured|set\s+up",
        ),
        (
            "Person",
            r"met|meet|meets|meeting|married|married\s+to|dating|told|asked|ask|thanked|engaged\s+to|hire|hiring"
            r"|called|named|name\s+is"
            r"|(?:talk(?:ed|ing)?|spoke|spoken|speaking|speak)\s+(?:to|with)"
            r"|reports?\s+to|reporting\s+to|reported\s+to|led\s+by|managed\s+by|headed\s+by"
            r"|mentored\s+by|taught\s+by|by\s+author|author|hired|interviewed"
            r"|emailed|texted|messaged|phoned|ran\s+into|bumped\s+into"
            r"|with\s+my|played\s+by|written\s+by|painted\s+by|composed\s+by"
            r"|directed\s+by|recorded\s+by|took\s+over\s+from|takes\s+over\s+from|took\s+over\s+[^.]{2,40}?\s+from"
            rf"|(?:{_TALK})\s+(?:\w+\s+){{0,2}}?with|thanks\s+to|according\s+to"
            rf"|says|said|hugged|kissed|helped|helping|visiting\s+my|for\s+my|miss"
            r"|introduced\s+(?:me\s+)?to|promised|reminded|warned|convinced|persuaded|paid|proposed\s+to"
            r"|picked\s+up\s+from|rang|wrote\s+to|cc|cc['’]d"
            r"|(?:treated|coached|trained|seen|recommended|run|born|raised|adopted)\s+by|baby|little|invited|invite"
            r"|gave|lent|sent|owe|owes|congratulated|babysat|replaced\s+by",
        ),
    )
)  # fmt: skip

AFTER: tuple[tuple[EntityKind, re.Pattern[str]], ...] = tuple(
    (cast(EntityKind, kind), re.compile(words, re.IGNORECASE))
    for kind, words in (
        ("Organization", r",[^.]{0,40}\bwhere\s+(?:I|we|he|she|they)\s+works?\b"),
        ("Location", r",?[^.]{0,40}\bwhere\s+(?:I|we|he|she|they)\s+(?:lives?|grew\s+up|moved|stay\w*)\b"),
        ("Organization", r"\s+live\s+(?:in|at|on)\b"),
        (
            "Project",
            r"\s+(?:project|initiative|repo|repository|codebase|roadmap|milestone"
            r"|rollout|migration|rewrite|backlog|prototype)\b"
            r"|(?:['’]s)?\s+(?:launch|launches|ships|shipped|release\s+date"
            r"|deadline|go-live|goes\s+live|beta|backlog|sprint|slipped|kicks?\s+off|kicked\s+off"
            r"|is\s+(?:done|blocked|unblocked|delayed|on\s+hold|live|finished|shipped|on\s+track|cancell?ed|in\s+beta))\b",
        ),
        ("Event", rf"\s+(?:{'|'.join(map(re.escape, sorted(EVENT_WORDS)))})\b|\s+(?:takes\s+place|took\s+place|20\d\d\b)"),
        (
            "Technology",
            r"\s+(?:v?\d+(?:\.\d+)+|api|sdk|library|framework|database|cluster|server|plugin|extension|cli"
            r"|editor|ide|package|module|compiler|programming\s+language|app|subscription|account|license|licence|script)\b"
            r"|['’]s\s+(?:docs|documentation|syntax|api|compiler|performance|error\s+messages)\b",
        ),
        (
            "Organization",
            r"\s+(?:moved|opened|closed|announced|launched|cut|raised|is\s+moving|is\s+opening)\s+(?:its|their)\b"
            r"|\s+(?:hired|employs|acquired|employees|laid\s+off|headquarters"
            r"|office|offices|shares|has\s+\d+\s+employees|membership"
            r"|offered(?!\s+to\b)|announced|went\s+(?:public|bankrupt)|got\s+acquired|was\s+acquired"
            r"|sponsors|folded)\b|['’]s\s+(?:ceo|cto|headquarters|hq|employees|offices?|customers|board)\b",
        ),
        (
            "Person",
            r"\s+(?:(?:now|also|just|still|really|has|have|had|will|is|was|are"
            r"|were|never|always|already|recently|finally|and\s+i)\s+){0,4}(?:works?"
            r"|worked|working|lives?|lived|living|said|says|told"
            r"|likes?|loves?|hates?|thinks?|joined|moved|wants?|asked|helped"
            r"|knows|plays?|played|studies|studied|studying|teaches|taught|"
            r"married|left|quit|turned|turns|prefers?|recommended|recommends"
            r"|suggested|suggests|introduced|invited|gave|speaks|spoke|graduated|got|was\s+born|born"
            r"|leads|led|manages|managed|runs|heads|reports|retired|retires"
            r"|died|passed\s+away|promoted|pregnant|allergic|vegetarian|vegan|engaged"
            r"|drives|cooks|bakes|paints|sings|writes|wrote|reads|lent|sent"
            r"|showed|taught|swears|needs|broke|hurt|came|comes|coming|visiting"
            r"|visits|visited|took|takes|stepped|resigned|joins"
            r"|handles|owns|started|starts|became|becomes|hopes|plans|promised"
            r"|agreed|offered\s+to|refused|decided|tends|offered\s+me|mentioned|explained|remembers|forgot|gave"
            r"|bought|sold|goes|went|wakes|sleeps|eats|drinks)\b"
            rf"|['’]s\s+(?:(?:new|old|little|big|older|younger)\s+)?(?:{RELATIVE}"
            rf"|birthday|wedding|dog|cat|house|place|flat|email|phone|name|job"
            rf"|age|number|address|surgery|funeral|graduation|party|desk|car|team|class|talk|flight|train|room"
            rf"|husband|baby|exam|recital|leaving|turn"
            r"|leave|visit|parents|kids|family|mum|mom|boss|manager|office|chair|bike|boat|recipe|advice|idea|mistake"
            r"|fault|funeral|operation"
            r"|contract|visa|passport|allergy|knee|back|leg|arm)\b"
            r"|\s+(?:isn['’]t|wasn['’]t|is\s+not|is|was)\s+(?:really\s+|actually\s+|still\s+|now\s+)?(?:my|his|her"
            r"|married|single|divorced|pregnant|ill|sick|away"
            r"|on\s+(?:leave|holiday|vacation|sick|parental|maternity|paternity)|off\s+sick|in\s+hospital|expecting"
            r"|moving|joining|leaving|visiting|retiring|studying"
            r"|teaching|allergic|vegan|vegetarian|\d{1,2}\s+(?:now|today|years))\b|\s+(?:called|rang|texted|emailed"
            r"|messaged|phoned|visited|hugged|thanked)\s+(?:me|us|my)\b"
            r"|\s+(?:can['’]t|couldn['’]t|won['’]t|doesn['’]t|didn['’]t|hasn['’]t)\s+(?:come|make\s+it|eat|drink|like"
            r"|join|want|stand|speak|sleep|drive)\b"
            r"|\s+(?:broke|hurt|passed|failed|had|lost)\s+(?:his|her)\b|\s+had\s+(?:a|the|twins)\s*(?:baby|twins)?\b"
            rf"|\s+and\s+(?:I|me|my\s+(?:{RELATIVE})|(?:his|her)\b)|\s+from\s+(?:work"
            rf"|university|school|accounting|sales|marketing|hr|legal|finance|the\s+\w+|my|our|uni|college|class)\b"
            r"|\s+[–—-]\s+(?:design|backend|frontend|product|sales|marketing|hr|legal|finance|qa|support|data)\b"
            r"|\s*\((?:\d{1,3}|my|our|the|a|an|his|her)\b",
        ),
    )
)  # fmt: skip

EMPLOYS = re.compile(
    r"\b(?:work|works|worked|working|job|role|position|intern(?:ed|ing|ship)?|employed|hired|started|starting"
    r"|career|engineer|developer|designer|manager|director|lead|interview(?:ed"
    r"|ing)?|offer|resigned|laid\s+off|applied)\s+(?:at|by|for|with|from|to)\s+$"
    r"|\b(?:i['’]m|back|now|over)\s+at\s+$"
    r"|\b(?:re)?join(?:ed|ing|s)?\s+$|\b(?:left|leaving|quit)\s+(?:\S+\s+){0,3}?(?:for\s+)?$",
    re.IGNORECASE,
)
MET = re.compile(
    r"\b(?:met|married(?:\s+to)?|dating|told|asked|called|engaged\s+to"
    r"|kissed|hugged|texted|emailed|named|friend|sister|brother)\s+$",
    re.IGNORECASE,
)
USED = re.compile(
    r"\b(?:in|use|uses|used|using|learn(?:ing|ed)?|to|from|with|code|write|writing|the|of)\s+$", re.IGNORECASE
)
MADE = re.compile(
    r"\b(?:build|built|building|make|made|making|work(?:s|ed|ing)?\s+on"
    r"|develop\w*|writ\w+|wrote|creat\w+|launch\w*|side|shipping|shipped|cod(?:ed|ing))\b",
    re.I,
)
HANDED = re.compile(
    r"\b(?:hand|pass|sen[dt]|g[ai]ve|talk|sp[eo]ke?|report|belong|thank"
    r"|assign|transfer|list)\w*\s+(?:\w+\s+){0,3}?(?:to|from)\s+$",
    re.I,
)
READ = re.compile(
    r"\b(?:(?:re-?)?reading|(?:re-?)?read|(?:re-?)?watching|(?:re-?)?watched|binge[dw]?(?:-?watch\w*)?"
    r"|halfway\s+through|listening\s+to|listened\s+to"
    r"|(?:finish|start)ed\s+(?=(?-i:The)\s)|(?:book|novel|film|movie|series|album|podcast|show),?)\s+(?:The\s+)?[\"“]?$",
    re.IGNORECASE,
)
"""What is read, watched or listened to is a title, whatever its words say."""
CALLED_SOMETHING = re.compile(
    r"\b(?:an?|the|our|my|their|his|her|some)\s+(?:[\w'’-]+\s+){1,4}?(?:is\s+)?(?:called|named|codenamed)\s+(?:the\s+)?[\"“]?$",
    re.IGNORECASE,
)
RELATIVE_CALLED = re.compile(rf"\b(?:{RELATIVE})\s+(?:is\s+)?(?:called|named)\s+$", re.IGNORECASE)
A_THING = re.compile(
    r"\b(?:driv\w+|drove|sold|bought|rid\w+|rode|own\w*|an?|my|our|the|his|her|old|new|used)\s+(?:(?:an?|my|our"
    r"|the)\s+)?(?:\w+\s+)?$",
    re.IGNORECASE,
)
ONE_OF_MANY = re.compile(
    r"\b(?:an?|my)\s+(?:(?:brand[- ])?(?:new|old|used|second-?hand|refurbished|cheap|red|blue|black|white|green"
    r"|electric|vintage)\s+)*$",
    re.IGNORECASE,
)
"""Of what one has "a" or "my", there are many: a product."""
AT = re.compile(r"(?:^|\s)at\s+$", re.IGNORECASE)
AT_THE = re.compile(r"(?:^|\s)at\s+the\s+$", re.IGNORECASE)
IN = re.compile(r"(?:^|\s)(?:in|to|from|through|across)\s+$", re.IGNORECASE)
WITH = re.compile(r"(?:^|\s)(?:with|by)\s+$", re.IGNORECASE)
STAYED = re.compile(
    r"\b(?:stay|weeks?|days?|months?|weekend|years?|weather|spring|summer)\s+(?:in|to)\s+$", re.IGNORECASE
)
PRONOUN_LATER = re.compile(r"^[^.;]{2,80}?\b(?:he|she|his|her|him|himself|herself|who)\b", re.IGNORECASE)
