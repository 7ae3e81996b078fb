"""
Well-known names and what they are: `lookup("postgres")` → a technology, "database".

*But:* a modest list of what a working life names most; everything else gets its kind from the words around it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from memento.model import EntityKind
from memento.text.places import PLACES
from memento.text.words import word_set


@dataclass(frozen=True, slots=True)
class Known:
    """
    A well-known name as it is usually written.

    `plain` when it is meant even in lower case, `everyday` when it is then another word or a first name.
    """

    name: str
    kind: EntityKind
    what: str
    plain: bool = False
    everyday: bool = False


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
        Studio, Visual Studio, RStudio, Windsurf!, Kakoune, Spyder!, Nova!, BBEdit, TextMate, Kate!, RubyMine,
        PhpStorm, Rider!, DataGrip
    """,
    "web browser": """
        Firefox, Chrome!=Google Chrome, Safari!, Brave!, Opera!, Microsoft Edge=Edge!, Vivaldi!, Arc!, Chromium,
        DuckDuckGo, Tor Browser, Internet Explorer
    """,
    "operating system": """
        Linux, Ubuntu, Debian, Fedora!, Arch Linux=Arch!, NixOS, macOS=Mac OS=MacOS, Windows!=Windows 11=Windows 10,
        Android!, iOS, FreeBSD, Mint!, Pop!_OS, CentOS, Alpine!, ChromeOS, Manjaro, openSUSE, Pop!_OS, Windows 7,
        Windows 8, Windows 95, watchOS, iPadOS
    """,
    "database": """
        PostgreSQL=Postgres, MySQL, MariaDB, SQLite, MongoDB=Mongo!, Redis, Cassandra!, Neo4j, Oxigraph, DuckDB,
        BigQuery, Snowflake!, ClickHouse, DynamoDB, CouchDB, Elasticsearch, OpenSearch, Firestore, Firebase,
        Supabase, Cosmos DB, InfluxDB, TimescaleDB, Milvus, Pinecone!, Qdrant, Weaviate, Chroma!, Redshift,
        Databricks, GraphDB, Virtuoso!, Blazegraph, CockroachDB, ScyllaDB, MSSQL=SQL Server, Oracle Database,
        Teradata, Memcached, ArangoDB, Dgraph, MinIO, Trino, Presto!, Hive!
    """,
    "cloud": """
        AWS=Amazon Web Services, Azure!=Microsoft Azure, GCP=Google Cloud, Heroku, Vercel, Netlify, Cloudflare,
        DigitalOcean, Hetzner, Fly.io, Lambda!, S3, EC2, SageMaker, Kubernetes=K8s, Docker, Podman, Terraform,
        Ansible, Helm!, Jenkins, GitHub Actions, GitLab CI, CircleCI, Nginx, Apache!, Kafka!, RabbitMQ, Airflow,
        Spark!, Hadoop, dbt, Prometheus!, Grafana, Datadog, Sentry!, Render!, Railway!, Linode, Pulumi, ArgoCD=Argo
        CD, Istio, Traefik, HAProxy, Caddy!, Vagrant, VMware, Proxmox, New Relic, Splunk, PagerDuty, Travis CI,
        TeamCity, Buildkite, Bamboo!, NATS!, Pulsar!, Flink, Snowpark, Fivetran, Prefect!, Dagster, OpenShift,
        Nomad!, Consul!, Vault!
    """,
    "framework": """
        React!, React Native, Angular!, Vue!=Vue.js, Svelte, SvelteKit, Next.js=NextJS, Nuxt, Django, Flask!,
        FastAPI, Express!, Rails!=Ruby on Rails, Laravel, Symfony, Spring!, Spring Boot, Node.js=Node!=NodeJS, Deno,
        Bun!, Flutter!, Electron!, Qt, .NET, ASP.NET, Remix!, Astro!, Tailwind!=Tailwind CSS, Bootstrap!, jQuery,
        Phoenix!, Unity!, Unreal Engine=Unreal!, Godot!, LangChain, LlamaIndex, PyTorch, TensorFlow, Keras, JAX,
        scikit-learn, pandas!, NumPy, SciPy, Polars!, Matplotlib, Plotly, Streamlit, Hugging Face, spaCy, FAISS,
        Pydantic, SQLAlchemy, Celery!, GraphQL, gRPC, REST!, pytest, Jest!, Playwright!, Selenium!, Cypress!,
        Webpack, Vite, Redux, Ktor, Spring Framework, Micronaut, Quarkus, Hibernate!, ASP.NET Core, Blazor, Phoenix
        LiveView, Ember.js, Backbone.js, Gatsby!, Hugo!, Jekyll!, Storybook, Ionic!, Xamarin, SwiftUI, Jetpack
        Compose, OpenCV, Dask, Ray!, MLflow, XGBoost, LightGBM, OpenGL, Vulkan!, CUDA, ROS!, Three.js, D3.js=D3!,
        htmx, Alpine.js, Bulma, Preact, Solid.js, Qwik, tRPC, Prisma!, Sequelize, Mongoose!, Puppeteer!, Capybara!,
        RSpec, JUnit, Mocha!, Vitest, Babel!, Rollup!, ESLint, Prettier!, Ollama, RDF, OWL!, SHACL, JSON, YAML, XML
    """,
    "tool": """
        Git, GitHub, GitLab, Bitbucket, Jira, Confluence, Slack!, Discord!, Zoom!, Notion!, Obsidian!, Trello,
        Asana, Linear!, Figma, Sketch!, Photoshop, Excel!, Word!, PowerPoint, Outlook!, Gmail, Google Docs, Google
        Sheets, Google Drive, Dropbox, Evernote, Todoist, Jupyter, Postman!, tmux, zsh, fish!, iTerm, Homebrew, npm,
        pnpm, pip!, Poetry!, Conda, Tableau, Power BI, Looker, ChatGPT, Claude!, GPT-4, GPT-4o, Gemini!, Llama!,
        Copilot!=GitHub Copilot, Midjourney, Stable Diffusion, WhatsApp, Telegram!, Signal!, Spotify, YouTube,
        Netflix!, Duolingo, Strava, Instagram, TikTok, LinkedIn, Reddit, Twitter, Facebook, WordPress, Shopify,
        Stripe!, Kindle!, iPhone, iPad, MacBook=MacBook Pro=MacBook Air, ThinkPad, Raspberry Pi, Arduino,
        PlayStation, Xbox, Nintendo Switch, Siri, Alexa!, Blender!, Ableton, Logic Pro, Lightroom, Premiere Pro,
        Roam!, Logseq, Anki, Zotero, LaTeX, Overleaf, Wayland, Bluetooth, Markdown, Mermaid!, Miro!, Airtable,
        Basecamp, Monday.com, ClickUp, Zapier, IFTTT, Mattermost, Microsoft Teams=MS Teams, Skype, Google Meet,
        Google Calendar, Google Photos, Google Maps, OneNote, OneDrive, SharePoint, iCloud, Apple Music, Apple
        Watch, Apple Notes, AirPods, Garmin!, Fitbit, Oura!, Audible!, Goodreads, Letterboxd, Twitch!, Snapchat,
        Pinterest!, Mastodon!, Bluesky, Tumblr, Substack, Medium!, Craft!, Bear!, Things 3, OmniFocus, TickTick,
        Pocket Casts, Feedly, Instapaper, Readwise, Grammarly, DeepL, Google Translate, Perplexity!, Copilot Chat,
        Codex!, Claude Code, Gemini CLI, Cline, Aider, 1Password, Bitwarden, LastPass, KeePass, NordVPN,
        ProtonMail=Proton Mail, Thunderbird!, Fastmail, Superhuman!, Mailchimp, HubSpot, Zendesk, Intercom!,
        QuickBooks, Xero, YNAB, Mint Mobile, Venmo, Apple Pay, Google Pay, Adobe Illustrator=Illustrator!, InDesign,
        Adobe XD, After Effects, Final Cut Pro, DaVinci Resolve, GarageBand, FL Studio, Pro Tools, Audacity!, OBS!,
        Inkscape, GIMP!, Krita, Affinity Designer, AutoCAD, SolidWorks, SketchUp, Fusion 360, Rhino!, Revit, Kodi,
        Plex!, Jellyfin, Nextcloud, Home Assistant, Raycast, Alfred!, Alacritty, kitty!, WezTerm, Ghostty, Warp!,
        Fish shell, Oh My Zsh, Nushell, Nix!, Chef!, Puppet!, Salt!, Roomba, Sonos, Chromecast, Fire TV, Apple TV,
        Steam Deck, Galaxy!, Surface Pro, Chromebook, Kobo!, reMarkable!, GoPro, Zwift, Peloton, Komoot, AllTrails,
        Headspace!, Calm!, Babbel, Memrise, Pimsleur
    """,
}
_ORGANIZATIONS = """
    Google, Microsoft, Apple!, Amazon!, Meta!, Alphabet!, IBM, Intel!, AMD, NVIDIA=Nvidia, Oracle!, SAP, Siemens,
    Bosch, BMW, Volkswagen, Mercedes!, Tesla!, SpaceX, Toyota, Honda, Samsung, Sony, Huawei, Xiaomi, Alibaba,
    Tencent, Spotify AB, Uber!, Lyft!, Airbnb, Booking.com, Zalando, Salesforce, Adobe!, Dell!, HP!, Cisco,
    Qualcomm, Palantir, OpenAI, Anthropic, DeepMind, Mistral!, Cohere, JPMorgan, Goldman Sachs, Morgan Stanley,
    Deloitte, Accenture, McKinsey, PwC, KPMG, Bain, Capgemini, Infosys, Wipro, Tata!, Boeing, Airbus, NASA, ESA!,
    CERN, MIT!, Stanford, Harvard, Oxford University, Cambridge University, ETH Zurich, UCLA, NYU, Yale, Princeton,
    Caltech, Berkeley, Walmart, Target!, IKEA, Nike, Adidas, Starbucks, McDonald's, Coca-Cola, Pepsi, Unilever,
    Nestlé, Pfizer, Novartis, Roche, Bayer, Philips, Shell!, BP!, Ericsson, Nokia, Vodafone, Twilio, Atlassian,
    Canva, Dropbox Inc, Mozilla, Red Hat, Canonical!, JetBrains, Bank of America, HSBC, Barclays, Revolut, Klarna,
    PayPal, Visa!, Mastercard, United Nations=UN!, European Union=EU!, WHO!, UNICEF, Red Cross, Greenpeace,
    Wikipedia, Reuters, BBC, CNN, New York Times=NYT!, Y Combinator, Sequoia!, a16z, Etsy, eBay, Wayfair, Pinterest
    Inc, Squarespace, Wix, Rovio, Supercell, King!, Ubisoft, Electronic Arts, Activision, Blizzard!, Nintendo,
    Valve!, Epic Games, Riot Games, Roblox, Zynga, Lidl, Aldi, Tesco, Sainsbury's, Carrefour, Rewe, Edeka, Migros,
    Coop!, Spar, Costco, Whole Foods, Trader Joe's, Home Depot, Best Buy, Decathlon, H&M, Zara!, Uniqlo, Primark,
    Inditex, DHL, UPS, FedEx, Maersk, Hapag-Lloyd, Lufthansa, Ryanair, EasyJet, KLM, Air France, British Airways,
    Emirates, Delta!, United Airlines, Qantas, Finnair, SAS!, Deutsche Bahn, Deutsche Bank, Commerzbank, Deutsche
    Telekom, ING, N26, Monzo, Starling!, Wise!, Stripe Inc, Adyen, Mollie, Bolt!, Wolt, Glovo, Deliveroo, Just Eat,
    DoorDash, Instacart, Ocado, HelloFresh, Gorillas!, Delivery Hero, Trivago, Expedia, Skyscanner, Volvo, Renault,
    Peugeot, Citroën, Fiat!, Ferrari, Porsche, Audi, Skoda!, SEAT!, Hyundai, Kia!, Nissan, Mazda, Ford!, General
    Motors, Chrysler, Rivian, Lucid!, Polestar, Scania, Lockheed Martin, Raytheon, Northrop Grumman, BAE Systems,
    Thales!, Rolls-Royce, General Electric=GE!, Honeywell, 3M, ABB, Schneider Electric, Hitachi, Panasonic, LG!,
    Lenovo, ASUS, Acer, Logitech, ARM!, TSMC, ASML, Infineon, NXP, Texas Instruments, Broadcom, Micron, Western
    Digital, Seagate, Johnson & Johnson, Merck, GSK, AstraZeneca, Moderna, BioNTech, Sanofi, Novo Nordisk, Biogen,
    Genentech, Illumina, Medtronic, Danone, Kraft!, Mars!, Heineken, Carlsberg, AB InBev, Diageo, L'Oréal, Procter &
    Gamble=P&G, Shell plc, ExxonMobil, Chevron!, TotalEnergies, Equinor, Vattenfall, Ørsted, E.ON, RWE, Enel,
    Iberdrola, EDF, Vestas, Allianz, AXA, Generali, Zurich Insurance, Swiss Re, Munich Re, Aviva, Prudential!, UBS,
    Credit Suisse, BNP Paribas, Société Générale, Santander, BBVA, UniCredit, Intesa Sanpaolo, Lloyds, NatWest,
    Citibank=Citi!, Wells Fargo, American Express=Amex, Capital One, BlackRock, Vanguard!, Fidelity!, Robinhood!,
    Coinbase, Binance, Kraken!, Chase Bank, BCG, Boston Consulting Group, Bain & Company, Roland Berger, Ernst &
    Young=EY!, Booz Allen, Tata Consultancy Services=TCS!, HCL, Cognizant, ThoughtWorks=Thoughtworks, EPAM, Globant,
    Rakuten, Sony Music, Universal Music, Warner Bros, Disney!, Pixar, DreamWorks, HBO, Hulu, Paramount!, NBC, ABC!,
    Fox News, The Guardian, The Economist, Financial Times, Wall Street Journal, Washington Post, Bloomberg, Der
    Spiegel, Le Monde, Al Jazeera, Penguin Random House, HarperCollins, Elsevier, Springer Nature, Oxford University
    Press, Max Planck Institute, Fraunhofer, CNRS, Charité, Mayo Clinic, Johns Hopkins, Columbia University,
    Cornell, Duke University, Brown University, Carnegie Mellon, Georgia Tech, Purdue, Imperial College, King's
    College London, UCL, LSE!, EPFL, TU Delft, TU Munich=TUM!, KTH, Sorbonne, Humboldt University, Heidelberg
    University, University of Oxford, University of Cambridge, Caritas, Oxfam, Amnesty International=Amnesty!,
    Doctors Without Borders=MSF!, Habitat for Humanity, World Bank, IMF, NATO, OECD, UNESCO, WWF, Rotary!, Salvation
    Army, YMCA, Peace Corps, Grammarly Inc, GitHub Inc, GitLab Inc, HashiCorp, Elastic!, Confluent, Cloudera,
    DataRobot, UiPath, Celonis, Personio, Contentful, TeamViewer, Delivery Club, Yandex, Baidu, ByteDance, Grab!,
    Gojek, Shopee, Flipkart, Swiggy, Zomato, Ola Cabs, Paytm, Zoho, Freshworks, Mercado Libre, Nubank, Rappi, Waymo,
    Cruise!, Aurora Innovation, Boston Dynamics, Blue Origin, Rocket Lab, Stability AI, Perplexity AI, Scale AI,
    xAI, Hugging Face Inc, Snap Inc, Reddit Inc, WeWork, Planet Fitness, Equinox!, CrossFit!, Nespresso, Lavazza,
    Lego!=LEGO, Mattel, Hasbro, Patagonia Inc, The North Face, Levi's, Gucci, Prada, Hermès, Louis Vuitton, Rolex,
    Swatch, Bose, Bang & Olufsen, Dyson!, Miele, Electrolux, Whirlpool!, Samsung Electronics, Foxconn, Mitsubishi,
    Toshiba, Fujitsu, NEC, Canon!, Nikon, Fujifilm, Leica, Zeiss, Olympus!
"""
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

COMPANY_SUFFIXES = word_set("""
    inc inc. corp corp. corporation gmbh ag ltd ltd. limited llc plc co co. company labs lab group holdings
    technologies technology tech systems software solutions partners ventures capital studios studio industries
    university institute college school academy hospital clinic bank foundation agency consulting pharma robotics
    analytics health airlines airways motors energy media games sa bv se oy ab srl
    """)
EVENT_WORDS = word_set("""
    conference conf summit festival meetup hackathon marathon olympics expo fair workshop symposium congress con con.
    fest week final finals gala carnival parade championship championships cup triathlon convention webinar retreat
    awards biennale
    regatta derby rally hackfest jam cook-off parkrun ultramarathon biathlon decathlon relay symposia biennial open-day camp
    jamboree pageant tournament league-cup trophy forum prom eisteddfod ironman gran-fondo
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
                table.setdefault(spelling.lower(), Known(name, kind, what, plain and unambiguous, not unambiguous))

    for what, text in _TECHNOLOGIES.items():
        enter(text, "Technology", what, plain=True)
    enter(_ORGANIZATIONS, "Organization", "", plain=False)
    for country, cities in PLACES.items():
        enter(country, "Location", "", plain=False)
        enter(cities, "Location", country.split("=")[0].rstrip("!"), plain=False)
    enter(_CONCEPTS, "Concept", "", plain=True)
    return table


def lookup(name: str) -> Known | None:
    """
    What is known of a name, whatever its case.

    >>> lookup("vscode"), lookup("Lisbon").what, lookup("Orion")
    (Known(name='VS Code', kind='Technology', what='code editor', plain=True, everyday=False), 'Portugal', None)
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
