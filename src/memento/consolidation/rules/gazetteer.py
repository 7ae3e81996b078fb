"""
Well-known names and what they are: `lookup("postgres")` → a technology, "database".

*But:* a modest list of what a working life names most; everything else gets its kind from the words around it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from memento.consolidation.rules.lexicon import word_set
from memento.model import EntityKind


@dataclass(frozen=True, slots=True)
class Known:
    """A well-known name as it is usually written; `plain` when it is meant even in lower case."""

    name: str
    kind: EntityKind
    what: str
    plain: bool = False


# "=" gives other spellings, "!" marks names that are everyday words or names of people when they stand in lower case.
_TECHNOLOGIES = {
    "programming language": """
        Python, Java!, JavaScript=JS!, TypeScript=TS!, Rust!, Go!=Golang, C!, C++, C#, Ruby!, PHP, Perl!, Kotlin,
        Swift!, Scala!, Haskell, Clojure, Elixir!, Erlang, Julia!, R!, Lua, Dart!, Zig!, OCaml, Fortran, COBOL, Lisp!,
        Scheme!, Racket!, Prolog, SQL, SPARQL, Bash!, PowerShell, GDScript, Solidity, MATLAB, Assembly!, Objective-C,
        F#, Groovy!, Nim!, HTML, CSS, WebAssembly
    """,
    "code editor": """
        VS Code=VSCode=Visual Studio Code, Vim, Neovim=NeoVim, Emacs, Zed!, Cursor!, Sublime Text=Sublime!, Atom!,
        Nano!, Helix!, Notepad++, PyCharm, IntelliJ=IntelliJ IDEA, WebStorm, GoLand, CLion, Eclipse!, Xcode, Android
        Studio, Visual Studio, RStudio, Windsurf!, Kakoune, Spyder!
    """,
    "web browser": "Firefox, Chrome!=Google Chrome, Safari!, Brave!, Opera!, Microsoft Edge=Edge!, Vivaldi!, Arc!, Chromium",
    "operating system": """
        Linux, Ubuntu, Debian, Fedora!, Arch Linux=Arch!, NixOS, macOS=Mac OS=MacOS, Windows!=Windows 11=Windows 10,
        Android!, iOS, FreeBSD, Mint!, Pop!_OS, CentOS, Alpine!, ChromeOS
    """,
    "database": """
        PostgreSQL=Postgres, MySQL, MariaDB, SQLite, MongoDB=Mongo!, Redis, Cassandra!, Neo4j, Oxigraph, DuckDB,
        BigQuery, Snowflake!, ClickHouse, DynamoDB, CouchDB, Elasticsearch, OpenSearch, Firestore, Firebase, Supabase,
        Cosmos DB, InfluxDB, TimescaleDB, Milvus, Pinecone!, Qdrant, Weaviate, Chroma!, Redshift, Databricks, GraphDB,
        Virtuoso!, Blazegraph
    """,
    "cloud": """
        AWS=Amazon Web Services, Azure!=Microsoft Azure, GCP=Google Cloud, Heroku, Vercel, Netlify, Cloudflare,
        DigitalOcean, Hetzner, Fly.io, Lambda!, S3, EC2, SageMaker, Kubernetes=K8s, Docker, Podman, Terraform,
        Ansible, Helm!, Jenkins, GitHub Actions, GitLab CI, CircleCI, Nginx, Apache!, Kafka!, RabbitMQ, Airflow,
        Spark!, Hadoop, dbt, Prometheus!, Grafana, Datadog, Sentry!
    """,
    "framework": """
        React!, React Native, Angular!, Vue!=Vue.js, Svelte, SvelteKit, Next.js=NextJS, Nuxt, Django, Flask!, FastAPI,
        Express!, Rails!=Ruby on Rails, Laravel, Symfony, Spring!, Spring Boot, Node.js=Node!=NodeJS, Deno, Bun!,
        Flutter!, Electron!, Qt, .NET, ASP.NET, Remix!, Astro!, Tailwind!=Tailwind CSS, Bootstrap!, jQuery, Phoenix!,
        Unity!, Unreal Engine=Unreal!, Godot!, LangChain, LlamaIndex, PyTorch, TensorFlow, Keras, JAX, scikit-learn,
        pandas!, NumPy, SciPy, Polars!, Matplotlib, Plotly, Streamlit, Hugging Face, spaCy, FAISS, Pydantic,
        SQLAlchemy, Celery!, GraphQL, gRPC, REST!, pytest, Jest!, Playwright!, Selenium!, Cypress!, Webpack, Vite,
        Redux, Ollama, RDF, OWL!, SHACL, JSON, YAML, XML
    """,
    "tool": """
        Git, GitHub, GitLab, Bitbucket, Jira, Confluence, Slack!, Discord!, Zoom!, Notion!, Obsidian!, Trello, Asana,
        Linear!, Figma, Sketch!, Photoshop, Excel!, Word!, PowerPoint, Outlook!, Gmail, Google Docs, Google Sheets,
        Google Drive, Dropbox, Evernote, Todoist, Jupyter, Postman!, tmux, zsh, fish!, iTerm, Homebrew, npm, pnpm,
        pip!, Poetry!, Conda, Tableau, Power BI, Looker, ChatGPT, Claude!, GPT-4, GPT-4o, Gemini!, Llama!,
        Copilot!=GitHub Copilot, Midjourney, Stable Diffusion, WhatsApp, Telegram!, Signal!, Spotify, YouTube,
        Netflix!, Duolingo, Strava, Instagram, TikTok, LinkedIn, Reddit, Twitter, Facebook, WordPress, Shopify,
        Stripe!, Kindle!, iPhone, iPad, MacBook=MacBook Pro=MacBook Air, ThinkPad, Raspberry Pi, Arduino, PlayStation,
        Xbox, Nintendo Switch, Siri, Alexa!, Blender!, Ableton, Logic Pro, Lightroom, Premiere Pro, Roam!, Logseq,
        Anki, Zotero, LaTeX, Overleaf, Wayland, Bluetooth
    """,
}
_ORGANIZATIONS = """
    Google, Microsoft, Apple!, Amazon!, Meta!, Alphabet!, IBM, Intel!, AMD, NVIDIA=Nvidia, Oracle!, SAP, Siemens,
    Bosch, BMW, Volkswagen, Mercedes!, Tesla!, SpaceX, Toyota, Honda, Samsung, Sony, Huawei, Xiaomi, Alibaba, Tencent,
    Spotify AB, Uber!, Lyft!, Airbnb, Booking.com, Zalando, Salesforce, Adobe!, Dell!, HP!, Cisco, Qualcomm, Palantir,
    OpenAI, Anthropic, DeepMind, Mistral!, Cohere, JPMorgan, Goldman Sachs, Morgan Stanley, Deloitte, Accenture,
    McKinsey, PwC, KPMG, Bain, Capgemini, Infosys, Wipro, Tata!, Boeing, Airbus, NASA, ESA!, CERN, MIT!, Stanford,
    Harvard, Oxford University, Cambridge University, ETH Zurich, UCLA, NYU, Yale, Princeton, Caltech, Berkeley,
    Walmart, Target!, IKEA, Nike, Adidas, Starbucks, McDonald's, Coca-Cola, Pepsi, Unilever, Nestlé, Pfizer, Novartis,
    Roche, Bayer, Philips, Shell!, BP!, Ericsson, Nokia, Vodafone, Twilio, Atlassian, Canva, Dropbox Inc, Mozilla, Red
    Hat, Canonical!, JetBrains, Bank of America, HSBC, Barclays, Revolut, Klarna, PayPal, Visa!, Mastercard, United
    Nations=UN!, European Union=EU!, WHO!, UNICEF, Red Cross, Greenpeace, Wikipedia, Reuters, BBC, CNN, New York
    Times=NYT!, Y Combinator, Sequoia!, a16z
"""
_PLACES = {
    "Germany": "Berlin, Munich, Hamburg, Cologne!, Frankfurt, Stuttgart, Leipzig, Dresden, Düsseldorf, Potsdam, Bonn, "
    "Freiburg, Heidelberg, Kreuzberg",
    "France": "Paris, Lyon, Marseille, Toulouse, Nice!, Bordeaux, Lille, Nantes, Strasbourg, Grenoble",
    "Spain": "Madrid, Barcelona, Valencia, Seville, Bilbao, Málaga, Granada",
    "Portugal": "Lisbon, Porto, Coimbra, Braga, Faro",
    "Italy": "Rome, Milan, Naples, Turin, Florence!, Venice, Bologna, Sicily",
    "United Kingdom": "London, Manchester, Edinburgh, Glasgow, Bristol, Cambridge, Oxford, Leeds, Liverpool, Birmingham, "
    "Brighton, Cardiff, Belfast",
    "Ireland": "Dublin, Cork!, Galway",
    "Netherlands": "Amsterdam, Rotterdam, Utrecht, The Hague, Eindhoven, Delft",
    "Belgium": "Brussels, Antwerp, Ghent, Leuven",
    "Switzerland": "Zurich=Zürich, Geneva, Basel, Bern, Lausanne",
    "Austria": "Vienna, Graz, Salzburg, Innsbruck",
    "Denmark": "Copenhagen, Aarhus",
    "Sweden": "Stockholm, Gothenburg, Malmö, Uppsala",
    "Norway": "Oslo, Bergen, Trondheim",
    "Finland": "Helsinki, Tampere, Espoo",
    "Poland": "Warsaw, Krakow=Kraków, Wrocław, Gdańsk",
    "Czech Republic=Czechia": "Prague, Brno",
    "Hungary": "Budapest",
    "Greece": "Athens, Thessaloniki, Crete",
    "Turkey!": "Istanbul, Ankara, Izmir",
    "Ukraine": "Kyiv=Kiev, Lviv",
    "Russia": "Moscow, Saint Petersburg",
    "Romania": "Bucharest, Cluj",
    "Bulgaria": "Sofia",
    "Croatia": "Zagreb, Split!",
    "Estonia": "Tallinn",
    "Latvia": "Riga",
    "Lithuania": "Vilnius",
    "Iceland": "Reykjavik",
    "United States=USA=US!=U.S.=America": """
        New York=New York City=NYC, San Francisco=SF!, Los Angeles=LA!, Chicago, Boston, Seattle, Austin, Denver,
        Portland, Miami, Atlanta, Dallas, Houston, Philadelphia, Phoenix, San Diego, San Jose, Washington, Washington
        DC, Minneapolis, Detroit, Nashville, Pittsburgh, Palo Alto, Mountain View, Brooklyn, Oakland, Las Vegas,
        Orlando, Salt Lake City, California, Texas, Florida, Oregon, Colorado, Massachusetts, Hawaii, Alaska,
        Michigan, Ohio, Utah, Montana, Silicon Valley, Bay Area
    """,
    "Canada": "Toronto, Vancouver, Montreal=Montréal, Ottawa, Calgary, Quebec, Waterloo",
    "Mexico": "Mexico City, Guadalajara, Oaxaca",
    "Brazil": "São Paulo=Sao Paulo, Rio de Janeiro, Recife, Brasília",
    "Argentina": "Buenos Aires, Mendoza",
    "Chile": "Santiago",
    "Colombia": "Bogotá=Bogota, Medellín=Medellin",
    "Peru": "Lima, Cusco",
    "India": "Mumbai, Delhi=New Delhi, Bangalore=Bengaluru, Chennai, Hyderabad, Pune, Kolkata, Goa",
    "China!": "Beijing, Shanghai, Shenzhen, Hong Kong, Guangzhou",
    "Japan": "Tokyo, Kyoto, Osaka",
    "South Korea=Korea": "Seoul, Busan",
    "Singapore": "",
    "Thailand": "Bangkok, Chiang Mai",
    "Vietnam": "Hanoi, Ho Chi Minh City",
    "Indonesia": "Jakarta, Bali",
    "Philippines": "Manila",
    "Malaysia": "Kuala Lumpur",
    "Australia": "Sydney, Melbourne, Brisbane, Perth",
    "New Zealand": "Auckland, Wellington",
    "South Africa": "Cape Town, Johannesburg",
    "Nigeria": "Lagos, Abuja",
    "Kenya": "Nairobi",
    "Egypt": "Cairo",
    "Morocco": "Marrakesh, Casablanca",
    "Israel": "Tel Aviv, Jerusalem, Haifa",
    "United Arab Emirates=UAE": "Dubai, Abu Dhabi",
    "Saudi Arabia": "Riyadh",
    "Europe": "",
    "Asia": "",
    "Africa": "",
    "Antarctica": "",
}
_CONCEPTS = """
    machine learning, deep learning, reinforcement learning, artificial intelligence=AI!, natural language
    processing=NLP!, computer vision, data science, data engineering, computer science, software engineering,
    knowledge graph=knowledge graphs, semantic web, linked data, quantum computing, cryptography, distributed systems,
    functional programming, object-oriented programming, test-driven development=TDD!, continuous integration,
    microservices, information retrieval, graph theory, linear algebra, category theory, statistics, probability
    theory, game theory, game design, game development, web development, cybersecurity, robotics, bioinformatics,
    neuroscience, psychology, philosophy, economics, linguistics, astronomy, astrophysics, physics, chemistry,
    biology, mathematics, thermodynamics, sociology, anthropology, archaeology, architecture!, product management,
    project management, user experience=UX!, graphic design, marketing!, photography, pottery, meditation,
    mindfulness, yoga, agile!=Scrum!, Kanban!, DevOps, blockchain, prompt engineering, retrieval-augmented
    generation=RAG!, GDPR, HIPAA, climate change, renewable energy, creative writing, calligraphy, woodworking,
    origami
"""
_FIRST_NAMES = """
    Aaron Adam Adrian Agnes Ahmed Aisha Alan Albert Alejandro Alex Alexander Alexandra Alexei Alfred Ali Alice Alicia
    Alina Alison Allison Alma Amanda Amara Amelia Amir Amit Amy Ana Anastasia Andre Andrea Andreas Andrew Andy Angela
    Anita Anja Anjali Ann Anna Anne Annika Anthony Anton Antonio Anya Ari Ariel Arjun Arthur Arun Asha Audrey Ava
    Barbara Beatrice Becky Ben Benjamin Bernd Beth Betty Bill Birgit Bob Boris Brad Brandon Brenda Brian Bridget Bruno
    Calvin Camila Carl Carla Carlos Carmen Carol Caroline Catherine Cecilia Charles Charlie Charlotte Chen Chiara
    Chloe Chris Christian Christina Christine Christoph Christopher Cindy Claire Clara Clarissa Claudia Colin Connor
    Craig Cynthia Daisy Dan Dana Daniel Daniela Dave David Deborah Deepak Denis Dennis Derek Diana Diego Dieter Dima
    Dmitri Dominic Donna Doris Dorothy Doug Douglas Dylan Ed Eddie Edith Eduardo Edward Elena Eli Elias Elijah Elisa
    Elizabeth Ella Ellen Elsa Emil Emily Emma Emmanuel Enrique Eric Erik Erika Ethan Eva Evan Evelyn Fatima Felipe
    Felix Fernando Fiona Florian Francesca Francis Frank Fred Gabriel Gabriela Gary George Gerald Gina Giovanni Giulia
    Gloria Gordon Greg Greta Gustavo Hannah Hans Harold Harriet Harry Hassan Heather Heidi Helen Helena Henrik Henry
    Hiroshi Hugo Ian Ibrahim Igor Ilya Ines Ingrid Irene Iris Isaac Isabel Isabella Ivan Jack Jackie Jacob Jakob James
    Jamie Jan Jana Jane Janet Jason Javier Jay Jean Jeff Jennifer Jenny Jeremy Jerome Jess Jesse Jessica Jill Jim Jo
    Joan Joanna Joe Joel Johan Johanna John Johnny Jolene Jon Jonas Jonathan Jordan Jorge Jose Joseph Josh Joshua
    Joyce Juan Judith Judy Julian Julie Julien Justin Kai Karen Karim Karin Karl Kate Katherine Kathryn Katie Katrin
    Keiko Keith Kelly Ken Kenji Kenneth Kevin Kim Klaus Kristin Kumar Kurt Kyle Lara Larry Lars Laura Lauren Lea Leah
    Lee Lena Leo Leon Leonard Leonardo Leslie Lewis Li Liam Lily Linda Lisa Liz Lorenzo Louis Louise Luca Lucas Lucia
    Lucy Luis Luisa Lukas Luke Lydia Lynn Madison Maggie Magnus Manuel Marc Marcel Marco Marcus Margaret Maria Marie
    Marina Mario Marion Mark Marko Markus Marta Martha Martin Martina Mary Mason Mateo Matt Matthew Matthias Max Maya
    Megan Mehmet Mei Mel Melanie Melissa Mia Michael Michelle Miguel Mika Mike Mila Milo Mina Mira Miriam Mohamed
    Mohammed Molly Monica Monika Morgan Muhammad Nadia Nancy Naomi Natalia Natalie Natasha Nate Nathan Neha Neil
    Nicholas Nick Nicole Nikhil Nikolai Nina Noah Noor Nora Oleg Olga Oliver Olivia Omar Oscar Otto Pablo Pamela
    Patricia Patrick Paul Paula Pauline Pedro Peter Petra Philip Philipp Phil Pierre Priya Rachel Rafael Rahul Raj
    Rajesh Ralph Ravi Ray Raymond Rebecca Rebekah Ricardo Richard Rick Rita Rob Robert Roberto Robin Roger Roland
    Roman Ron Ronald Rosa Rosie Ruth Ryan Sabine Sally Sam Samantha Samira Samuel Sandra Sanjay Sara Sarah Sasha Scott
    Sean Sebastian Sergei Sergio Shannon Sharon Shreya Silvia Simon Simone Sofia Sophia Sophie Stefan Stefanie Stella
    Stephan Stephanie Stephen Steve Steven Stuart Sue Sunita Susan Susanne Suzanne Sven Svetlana Sylvia Tara Tatiana
    Ted Teresa Terry Theo Theresa Thomas Tia Tim Timothy Tina Tobias Todd Tom Tomas Tony Tracy Tyler Uwe Valentina
    Valeria Vanessa Vera Veronica Victor Victoria Vijay Viktor Vincent Viola Vivian Vladimir Walter Wanda Wei Wendy
    Werner Wilhelm William Wolfgang Xavier Yara Yasmin Yuki Yuri Yusuf Yvonne Zach Zachary Zara Zoe Zoey
"""
FIRST_NAMES = frozenset(_FIRST_NAMES.split())

COMPANY_SUFFIXES = word_set("""
    inc inc. corp corp. corporation gmbh ag ltd ltd. limited llc plc co co. company labs lab group holdings
    technologies technology tech systems software solutions partners ventures capital studios studio industries
    university institute college school academy hospital clinic bank foundation agency consulting pharma robotics
    analytics health airlines airways motors energy media games sa bv se oy ab srl
    """)
EVENT_WORDS = word_set("""
    conference conf summit festival meetup hackathon marathon olympics expo fair workshop symposium congress con con.
    fest week championship cup triathlon convention webinar retreat awards biennale
    """)


def _entries(text: str) -> list[tuple[str, list[tuple[str, bool]]]]:
    """(name, [(spelling, plain)]) of each item between commas."""
    found = []
    for item in (" ".join(part.split()) for part in text.split(",") if part.strip()):
        spellings = [(part.rstrip("!"), not part.endswith("!")) for part in item.split("=")]
        found.append((spellings[0][0], spellings))
    return found


@cache
def _table() -> dict[str, Known]:
    table: dict[str, Known] = {}

    def enter(text: str, kind: EntityKind, what: str, plain: bool) -> None:
        for name, spellings in _entries(text):
            for spelling, unambiguous in spellings:
                table.setdefault(spelling.lower(), Known(name, kind, what, plain and unambiguous))

    for what, text in _TECHNOLOGIES.items():
        enter(text, "Technology", what, plain=True)
    enter(_ORGANIZATIONS, "Organization", "", plain=False)
    for country, cities in _PLACES.items():
        enter(country, "Location", "", plain=False)
        enter(cities, "Location", country.split("=")[0].rstrip("!"), plain=False)
    enter(_CONCEPTS, "Concept", "", plain=True)
    return table


def lookup(name: str) -> Known | None:
    """
    What is known of a name, whatever its case.

    >>> lookup("vscode"), lookup("Lisbon").what, lookup("Orion")
    (Known(name='VS Code', kind='Technology', what='code editor', plain=True), 'Portugal', None)
    """
    return _table().get(name.lower())


@cache
def plain_names() -> frozenset[str]:
    """The names that are meant even in lower case, longest of them three words."""
    return frozenset(name for name, known in _table().items() if known.plain)


def is_part_of(small: str, large: str) -> bool:
    """
    Whether one place lies in the other.

    >>> is_part_of("Berlin", "Germany"), is_part_of("Berlin", "France")
    (True, False)
    """
    inner, outer = lookup(small), lookup(large)
    return inner is not None and outer is not None and inner.kind == "Location" and inner.what == outer.name
