"""Secrets of every kind in texts of every kind, and ordinary lines without one, by seed."""

from __future__ import annotations

import base64
import json
import random
import string
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from uuid import UUID

LETTERS, DIGITS = string.ascii_letters, string.digits
URL_SAFE = LETTERS + DIGITS + "-_"


@dataclass(frozen=True, slots=True)
class Generated:
    """A text with a secret in it."""

    kind: str
    secret: str
    text: str

    @property
    def trace(self) -> str:
        """Return what is looked for: a short number may stand in a file by chance, so that it comes with what is before it."""
        begin = self.text.index(self.secret)
        return self.secret if len(self.secret) > 7 else self.text[max(begin - 3, 0) : begin + len(self.secret)]


def draw(dice: random.Random, signs: str, length: int) -> str:
    """Draw signs by chance, with a letter of either size and a digit among them where the signs have such."""
    while True:
        drawn = "".join(dice.choices(signs, k=length))
        if all(
            any(sign in drawn for sign in some)
            for some in (string.digits, string.ascii_letters)
            if set(some) & set(signs)
        ):
            return drawn


def draw_password(dice: random.Random) -> str:
    """Draw a password as people make them: a word with a number and a sign, or signs by chance."""
    if dice.random() < 0.5:
        return draw(dice, LETTERS + DIGITS + "!#%+*", dice.randint(8, 20)).lstrip("!#%+*") + "9a"
    word = dice.choice(["winter", "Sonne", "hunter", "Lissabon", "dragon", "kestrel"])
    return f"{word}{dice.choice(['', '-', '_', '.'])}{dice.randint(2, 99999)}{dice.choice(['', '!', '#'])}x"


def draw_card(dice: random.Random) -> str:
    """Draw a number of a card with its checksum."""
    digits = [int(sign) for sign in dice.choice(["4", "51", "55", "2221", "37", "6011"])]
    digits += [dice.randint(0, 9) for _ in range((14 if digits[0] == 3 else 15) - len(digits))]
    total = sum(
        digit * 2 - 9 * (digit > 4) if place % 2 == 0 else digit for place, digit in enumerate(reversed(digits))
    )
    number = "".join(map(str, [*digits, -total % 10]))
    sign = dice.choice(["", " ", "-"])
    return sign.join(number[at : at + 4] for at in range(0, len(number), 4))


def draw_jwt(dice: random.Random) -> str:
    """Draw a JSON Web Token."""
    parts = ({"alg": "HS256", "typ": "JWT"}, {"sub": str(dice.randint(1, 10**9)), "admin": True})
    head = [base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode() for part in parts]
    return ".".join([*head, draw(dice, URL_SAFE, 43)])


def draw_pem(dice: random.Random) -> str:
    """Draw a private key with its lines."""
    kind = dice.choice(["RSA ", "EC ", "", "OPENSSH ", "ENCRYPTED "])
    lines = [draw(dice, LETTERS + DIGITS + "+/", 64) for _ in range(dice.randint(3, 12))]
    return "\n".join([f"-----BEGIN {kind}PRIVATE KEY-----", *lines, f"-----END {kind}PRIVATE KEY-----"])


TOKENS: Mapping[str, Callable[[random.Random], str]] = {
    "AWS_KEY": lambda dice: dice.choice(["AKIA", "ASIA"]) + draw(dice, string.ascii_uppercase + DIGITS, 16),
    "GITHUB_TOKEN": lambda dice: f"gh{dice.choice('pousr')}_{draw(dice, LETTERS + DIGITS, 36)}",
    "GITHUB_TOKEN fine": lambda dice: (
        f"github_pat_{draw(dice, LETTERS + DIGITS, 22)}_{draw(dice, LETTERS + DIGITS, 59)}"
    ),
    "SLACK_TOKEN": lambda dice: (
        f"xox{dice.choice('abpr')}-{dice.randint(10**11, 10**12)}-{draw(dice, LETTERS + DIGITS, 24)}"
    ),
    "GOOGLE_KEY": lambda dice: f"AIza{draw(dice, URL_SAFE, 35)}",
    "API_KEY openai": lambda dice: f"sk-{draw(dice, LETTERS + DIGITS, 48)}",
    "API_KEY project": lambda dice: f"sk-proj-{draw(dice, URL_SAFE, 60)}",
    "API_KEY anthropic": lambda dice: f"sk-ant-api03-{draw(dice, URL_SAFE, 90)}AA",
    "API_KEY stripe": lambda dice: f"sk_live_{draw(dice, LETTERS + DIGITS, 24)}",
    "API_KEY published": lambda dice: f"key-{draw(dice, LETTERS + DIGITS, 32)}",
    "GITLAB_TOKEN": lambda dice: f"glpat-{draw(dice, URL_SAFE, 20)}",
    "SENDGRID": lambda dice: f"SG.{draw(dice, URL_SAFE, 22)}.{draw(dice, URL_SAFE, 43)}",
    "HUGGING_FACE": lambda dice: f"hf_{draw(dice, LETTERS + DIGITS, 34)}",
    "JWT": draw_jwt,
    "BASE64_BLOCK": lambda dice: base64.b64encode(dice.randbytes(dice.randint(40, 80))).decode(),
    "HIGH_ENTROPY": lambda dice: draw(dice, LETTERS + DIGITS, 40),
}
"""Secrets that are known by themselves."""

LABELLED = (
    'apiKey: "{}"',
    "my API key is {}",
    "access_token={}",
    "The secret key was {}.",
    "X_AUTH_TOKEN={}",
    '{{"client_secret": "{}"}}',
    "Authorization: Bearer {}",
    "https://example.org/v1/list?limit=3&api_key={}&page=2",
    "export AWS_SECRET_ACCESS_KEY={}",
    "  auth_token: {}\n  region: eu",
)
"""What makes a secret of signs that alone could be anything."""

PASSWORDS = (
    "my password is {}",
    "The password for the router in the hall is {}, said Ana.",
    "password: {}",
    "db:\n  user: ana\n  password: {}\n  port: 5432",
    '{{"user": "ana", "password": "{}"}}',
    "DB_PASSWORD={}",
    'db_password = "{}"',
    "postgres://ana:{}@db.example.org:5432/main",
    "mongodb+srv://ana:{}@cluster0.example.net/?w=1",
    "Server=db;Database=main;User Id=ana;Password={};Timeout=5",
    "log in as ana with password {}",
    "curl -u ana:{} https://example.org/list",
    "mysqladmin --password={} status",
    "<login><password>{}</password></login>",
    "Mein Passwort ist {}",
    "The passphrase of the backup is '{}'.",
)

AROUND = (
    "{}",
    "Remember: {} and do not tell anybody.",
    "I met Ana on Tuesday.\n\n{}\n\nShe lives in Lisbon.",
    "```python\nclient = connect('{}')\n```",
    '{{"note": "it is {}", "n": 3}}',
    "- item: {}\n  count: 3",
    "see https://example.org/login?next=/&k={} for more",
)


def make_secret(dice: random.Random, place: int) -> Generated:
    """Make one text with a secret, of the kind that is next."""
    match place % 8:
        case 0:
            secret = draw_pem(dice)
            return Generated("PRIVATE_KEY", secret, f"The key of the server:\n{secret}\nIt is in the safe.")
        case 1:
            secret = draw_card(dice)
            return Generated("CARD_NUMBER", secret, f"I pay with {secret}, it expires in May.")
        case 2:
            secret = str(dice.randint(10**3, 10**6))
            text = dice.choice(
                ["The PIN of my card is {}.", "pin: {}", "My phone's PIN is {}", "The door code is {}, go in."]
            )
            return Generated("PIN", secret, text.format(secret))
        case 3 | 4:
            secret = draw_password(dice)
            return Generated("PASSWORD", secret, PASSWORDS[place % len(PASSWORDS)].format(secret))
        case 5:
            secret = (
                draw(dice, dice.choice([LETTERS + DIGITS, "0123456789abcdef", URL_SAFE]), dice.randint(16, 48)).strip(
                    "-_"
                )
                + "7f"
            )
            return Generated("API_KEY", secret, dice.choice(LABELLED).format(secret))
        case _:
            kind = list(TOKENS)[place % len(TOKENS) if place % 8 == 6 else dice.randrange(len(TOKENS))]
            secret = TOKENS[kind](dice)
            around = AROUND[:-1] if kind in ("BASE64_BLOCK", "HIGH_ENTROPY") else AROUND
            return Generated(kind.partition(" ")[0], secret, dice.choice(around).format(secret))


def make_secrets(seed: int, count: int = 200) -> list[Generated]:
    """Make texts with secrets of all kinds."""
    dice = random.Random(seed)
    return [make_secret(dice, place) for place in range(count)]


NAMES = ["Ana", "Noor", "Jonas", "Mira", "Tom", "Yuki", "Ines", "Olaf"]
PLACES = ["Lisbon", "Bergen", "Oslo", "Kyoto", "Rome", "Graz", "Lima", "Accra"]
THINGS = [
    "the garden",
    "the budget",
    "our release",
    "the key of the shed",
    "a token of thanks",
    "her passport",
    "the new parser",
]
SENTENCES = (
    "{name} moved to {place} on {date} and likes {thing}.",
    "I met {name} at {time} in {place}; we talked about {thing}.",
    "My phone number is {phone}, and {name}'s is {phone}.",
    "Order {order} from {place} arrives on {date}, tracking number {digits}.",
    "The password is too short, says {name}; it was changed on {date}.",
    "{name} forgot the password again and has to reset it in {place}.",
    "A password must have at least {small} characters, a digit and a sign.",
    "The secret of {name}'s success is {thing}.",
    "The key is to ask {name} before {date}.",
    "{name} lost the token for the washing machine in {place}.",
    "We pinned version {version} of the parser, see {url}.",
    "Commit {commit} broke the build, {short} mended it.",
    "The request {uuid} took {small}{digit} ms.",
    "<{iri}> a <http://xmlns.com/foaf/0.1/Person> .",
    "The file {path} has {digits} bytes, sha256 {sha}.",
    "{url} explains how {thing} works.",
    "def {function}(password: str, token: str | None = None) -> bool:",
    '    return {function}(request.headers["X-Token"], settings.api_key)',
    "self.{function}_key = {function}_by_name[{small}]",
    "assert {function}(tokens) == {small}",
    "MAX_TOKENS={digits}",
    "KEYBOARD_LAYOUT=de",
    "SORT_KEY=name",
    'password = getpass("Your password: ")',
    "api_key: ${{API_KEY}}",
    'token = os.environ["GITHUB_TOKEN"]',
    "secret_name: projects/{short}/secrets/{function}",
    "{base64} is {word} in base64.",
    "The meeting is at {time} on {date}, room {small}.{small}.",
    "IBAN of the club: DE{digits}{digits}, invoice {order}",
    "ISBN 978-{small}-{digits}-{small}, page {small}",
    "The pin {small} of the board is connected to ground.",
    "{name}: see you in {place}! ({date})",
    "import {function} from './{function}/{word}-{word}.js'",
    "![a picture](data:image/png;base64,{image})",
    '"integrity": "sha512-{integrity}"',
    "| {name} | {date} | {digits} | {place} |",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{image} {name}@laptop",
    "class {camel}({camel}):",
    "192.168.{small}.{small} is {name}'s printer, MAC 0a:1b:2c:3d:4e:{small}",
    "Basic knowledge of {place} is enough, the bearer of this letter is {name}.",
)
WORDS = ["winter", "harbour", "teapot", "ladder", "orchard", "window", "copper", "meadow"]


def make_ordinary_line(dice: random.Random) -> str:
    """Make a line that holds no secret."""
    word, other = dice.choice(WORDS), dice.choice(WORDS)

    def digits(length: int) -> str:
        return "".join(dice.choices(DIGITS, k=length))

    values = {
        "name": dice.choice(NAMES),
        "place": dice.choice(PLACES),
        "thing": dice.choice(THINGS),
        "date": f"20{dice.randint(10, 29)}-{dice.randint(1, 12):02}-{dice.randint(1, 28):02}",
        "time": f"{dice.randint(0, 23)}:{dice.randint(0, 59):02}",
        "phone": f"+{dice.randint(1, 99)} {dice.randint(100, 999)} {dice.randint(1000000, 9999999)}",
        "order": f"{dice.choice(['ORD-', 'INV-', '#', ''])}{dice.randint(10**6, 10**11)}",
        "digits": digits(dice.randint(4, 9)),
        "digit": digits(1),
        "small": str(dice.randint(1, 99)),
        "version": f"{dice.randint(0, 9)}.{dice.randint(0, 30)}.{dice.randint(0, 9)}",
        "url": f"https://{word}.example.org/{other}/{dice.randint(1, 9999)}?id={UUID(int=dice.getrandbits(128))}",
        "commit": f"{dice.getrandbits(160):040x}",
        "short": f"{dice.getrandbits(28):07x}",
        "uuid": str(UUID(int=dice.getrandbits(128))),
        "iri": f"urn:memento:memory:{UUID(int=dice.getrandbits(128))}",
        "path": f"/home/{word}/{other}/{word}_{dice.randint(1, 99)}/{other}-{dice.randint(2000, 2030)}.tar.gz",
        "sha": f"{dice.getrandbits(256):064x}",
        "function": f"{word}_{other}",
        "base64": base64.b64encode(f"{word} {other}".encode()).decode(),
        "word": word,
        "image": base64.b64encode(dice.randbytes(48)).decode(),
        "integrity": base64.b64encode(dice.randbytes(64)).decode(),
        "camel": f"{word.title()}{other.title()}FactoryV{dice.randint(1, 9)}Test",
    }
    return dice.choice(SENTENCES).format(**values)


def make_ordinary_lines(seed: int, count: int = 2_000) -> list[str]:
    """Make lines without secrets."""
    dice = random.Random(seed)
    return [make_ordinary_line(dice) for _ in range(count)]
