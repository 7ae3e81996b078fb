"""Countries and the places in them that a life names most: `PLACES["Portugal"]` → "Lisbon, Porto, …"; continents have none."""

from __future__ import annotations

# "=" gives other spellings, "!" marks what is also an everyday word or the name of a person.
_PLACES = """
Germany: Berlin, Munich, Hamburg, Cologne!, Frankfurt, Stuttgart, Leipzig, Dresden, Düsseldorf, Potsdam, Bonn,
    Freiburg, Heidelberg, Kreuzberg, Augsburg, Aachen, Bamberg, Bayreuth, Bielefeld, Bochum, Braunschweig,
    Bremen, Chemnitz, Darmstadt, Dortmund, Duisburg, Erfurt, Erlangen, Essen!, Flensburg, Göttingen, Halle!,
    Hannover=Hanover, Heilbronn, Jena, Karlsruhe, Kassel, Kiel, Koblenz, Konstanz, Lübeck, Magdeburg, Mainz,
    Mannheim, Marburg, Münster=Muenster, Nuremberg=Nürnberg, Oldenburg, Osnabrück, Passau, Regensburg, Rostock,
    Saarbrücken, Trier, Tübingen, Ulm, Weimar, Wiesbaden, Wuppertal, Würzburg, Bavaria, Saxony, Neukölln,
    Charlottenburg, Friedrichshain, Schwabing
France: Paris, Lyon, Marseille, Toulouse, Nice!, Bordeaux, Lille, Nantes, Strasbourg, Grenoble, Nancy!, Rennes,
    Montpellier, Avignon, Dijon, Reims, Brest, Annecy, Angers, Tours!, Limoges, Perpignan, Cannes, Arles,
    Aix-en-Provence, Biarritz, Brittany!, Normandy, Provence, Corsica, Chamonix
Spain: Madrid, Barcelona, Valencia, Seville, Bilbao, Málaga, Granada, Zaragoza, Córdoba, Alicante, San
    Sebastián=San Sebastian, Salamanca, Toledo, Cádiz, Girona, Murcia, Vigo, Palma, Mallorca=Majorca, Ibiza,
    Tenerife, Menorca, Andalusia, Catalonia
Portugal: Lisbon, Porto, Coimbra, Braga, Faro, Aveiro, Évora, Sintra, Cascais, Setúbal, Madeira, Azores,
    Algarve, Funchal
Italy: Rome, Milan, Naples, Turin, Florence!, Venice, Bologna, Sicily, Genoa, Verona, Pisa, Siena, Palermo,
    Catania, Bari, Lecce, Trieste, Padua, Parma, Modena, Perugia, Ravenna, Asti, Bergamo, Brescia, Cagliari,
    Como, Lucca, Rimini, Udine, Vicenza, Matera, Bolzano, Trento, Sardinia, Tuscany, Umbria, Puglia, Amalfi,
    Ferrara, Ancona
United Kingdom=UK!=Britain=Great Britain: London, Manchester, Edinburgh, Glasgow, Bristol, Cambridge, Oxford,
    Leeds, Liverpool, Birmingham, Brighton, Cardiff, Belfast, Sheffield, Nottingham, Newcastle, Leicester,
    Coventry, Southampton, Portsmouth, Norwich, York, Bath!, Exeter, Plymouth, Aberdeen, Dundee, Inverness,
    Swansea, Reading!, Canterbury, Durham, Hackney, Camden, Shoreditch, Cornwall, Devon, Kent!, Essex, Sussex,
    Surrey, Yorkshire, England, Scotland, Wales, Northern Ireland, Milton Keynes, Wolverhampton, Sunderland,
    Stirling, Peckham, Brixton
Ireland: Dublin, Cork!, Galway, Limerick!, Waterford, Kilkenny, Sligo, Donegal, Kerry!
Netherlands=Holland: Amsterdam, Rotterdam, Utrecht, The Hague, Eindhoven, Delft, Groningen, Maastricht,
    Nijmegen, Haarlem, Leiden, Tilburg, Breda, Arnhem, Almere, Amersfoort, Zwolle, Friesland
Belgium: Brussels, Antwerp, Ghent, Leuven, Bruges, Liège, Namur, Mechelen, Ostend, Hasselt, Flanders, Wallonia
Switzerland: Zurich=Zürich, Geneva, Basel, Bern, Lausanne, Lucerne, Lugano, Winterthur, St. Gallen, Fribourg,
    Neuchâtel, Zug, Davos, Zermatt, Interlaken, Ticino
Austria: Vienna, Graz, Salzburg, Innsbruck, Linz, Klagenfurt, Villach, Bregenz, Dornbirn, Tyrol, Styria,
    Carinthia
Denmark: Copenhagen, Aarhus, Odense, Aalborg, Roskilde, Esbjerg, Greenland
Sweden: Stockholm, Gothenburg, Malmö, Uppsala, Lund, Linköping, Västerås, Örebro, Norrköping, Helsingborg, Umeå,
    Dalarna, Värmland, Gotland, Kiruna, Karlstad, Jönköping, Södermalm
Norway: Oslo, Bergen, Trondheim, Stavanger, Tromsø, Bodø, Drammen, Lofoten, Svalbard, Ålesund
Finland: Helsinki, Tampere, Espoo, Turku, Oulu, Jyväskylä, Rovaniemi, Vantaa, Lahti, Kuopio, Kallio, Pasila,
    Lapland
Poland: Warsaw, Krakow=Kraków, Wrocław, Gdańsk, Gdansk, Gdynia, Sopot, Poznań=Poznan, Łódź=Lodz, Katowice,
    Lublin, Szczecin, Wroclaw, Białystok, Toruń, Zakopane, Rzeszów, Silesia, Mazury
Czech Republic=Czechia: Prague, Brno, Ostrava, Olomouc, Plzeň=Pilsen, Liberec, Bohemia, Moravia, České
    Budějovice
Hungary: Budapest, Debrecen, Szeged, Pécs, Győr
Greece: Athens, Thessaloniki, Crete, Patras, Heraklion, Santorini, Mykonos, Rhodes!, Corfu, Naxos, Chania
Turkey!=Türkiye: Istanbul, Ankara, Izmir, Antalya, Bursa, Bodrum, Cappadocia
Ukraine: Kyiv=Kiev, Lviv, Kharkiv, Odesa=Odessa, Dnipro
Russia: Moscow, Saint Petersburg, Kazan, Novosibirsk, Siberia
Romania: Bucharest, Cluj, Timișoara=Timisoara, Brașov=Brasov, Iași, Sibiu, Transylvania, Cluj-Napoca
Bulgaria: Sofia, Plovdiv, Varna, Burgas
Croatia: Zagreb, Split!, Rijeka, Dubrovnik, Zadar, Pula, Istria, Hvar
Estonia: Tallinn, Tartu, Pärnu
Latvia: Riga
Lithuania: Vilnius, Kaunas, Klaipėda
Iceland: Reykjavik, Akureyri
United States=USA=US!=U.S.=America: New York=New York City=NYC, San Francisco=SF!, Los Angeles=LA!, Chicago,
    Boston, Seattle, Austin, Denver, Portland, Miami, Atlanta, Dallas, Houston, Philadelphia, Phoenix, San
    Diego, San Jose, Washington, Washington DC, Minneapolis, Detroit, Nashville, Pittsburgh, Palo Alto, Mountain
    View, Brooklyn, Oakland, Las Vegas, Orlando, Salt Lake City, California, Texas, Florida, Oregon, Colorado,
    Massachusetts, Hawaii, Alaska, Michigan, Ohio, Utah, Montana, Silicon Valley, Bay Area, Baltimore,
    Cleveland, Columbus, Cincinnati, Indianapolis, Charlotte!, Raleigh, Durham, Richmond, St. Louis, Kansas
    City, Milwaukee, Madison!, New Orleans, Memphis, Louisville, Tampa, Jacksonville, Sacramento, San Antonio,
    El Paso, Tucson, Albuquerque, Santa Fe, Boulder!, Boise, Anchorage, Honolulu, Buffalo!, Rochester, Albany,
    Hartford, Providence!, Burlington, Ann Arbor, Charleston, Savannah, Asheville, Omaha, Des Moines, Tulsa,
    Oklahoma City, Santa Monica, Santa Barbara, Santa Cruz, Berkeley Hills, Long Beach, Fresno, Spokane, Tacoma,
    Eugene!, Manhattan, Queens!, Harlem, Maui, Maine, Vermont, New Hampshire, Connecticut, Rhode Island, New
    Jersey, Pennsylvania, Delaware, Maryland, Virginia!, North Carolina, South Carolina, Tennessee, Kentucky,
    Alabama, Mississippi, Louisiana, Arkansas, Missouri, Iowa, Minnesota, Wisconsin, Illinois, Indiana,
    Nebraska, Kansas, Oklahoma, South Dakota, North Dakota, Wyoming, Idaho, Nevada, Arizona, New Mexico,
    Yellowstone, Yosemite, Lake Tahoe, Cupertino, Sunnyvale, Menlo Park, Redmond, Bellevue, San Mateo, Marin
    County, Sonoma, Napa, Cape Cod, Long Island, Grand Canyon, Big Sur, Joshua Tree, Woodhaven
Canada: Toronto, Vancouver, Montreal=Montréal, Ottawa, Calgary, Quebec, Waterloo, Edmonton, Winnipeg, Halifax,
    Kitchener, Hamilton!, Banff, Whistler, Nova Scotia, British Columbia, Ontario, Alberta, Saskatoon, Québec
Mexico: Mexico City, Guadalajara, Oaxaca, Monterrey, Puebla, Tijuana, Cancún=Cancun, Mérida, Tulum, Querétaro
Brazil: São Paulo=Sao Paulo, Rio de Janeiro, Recife, Brasília, Salvador, Fortaleza, Belo Horizonte, Porto
    Alegre, Curitiba, Manaus, Florianópolis, São Luís
Argentina: Buenos Aires, Mendoza, Rosario!, Bariloche, Patagonia, Córdoba Capital
Chile: Santiago, Valparaíso=Valparaiso, Atacama
Colombia: Bogotá=Bogota, Medellín=Medellin, Cali, Cartagena, Barranquilla
Peru: Lima, Cusco, Arequipa, Machu Picchu
India: Mumbai, Delhi=New Delhi, Bangalore=Bengaluru, Chennai, Hyderabad, Pune, Kolkata, Goa, Jaipur, Ahmedabad,
    Kochi, Lucknow, Chandigarh, Mysore, Surat, Nagpur, Indore, Gurgaon=Gurugram, Noida, Varanasi, Udaipur,
    Kerala, Rajasthan, Punjab, Bihar, Trivandrum, Shimla, Calcutta, Bombay, Madras
China!: Beijing, Shanghai, Shenzhen, Hong Kong, Guangzhou, Chengdu, Hangzhou, Nanjing, Wuhan, Xi'an, Suzhou,
    Tianjin, Chongqing, Kunming, Macau
Japan: Tokyo, Kyoto, Osaka, Nagoya, Sapporo, Fukuoka, Kobe, Yokohama, Hiroshima, Nara, Okinawa, Hokkaido,
    Kanazawa, Nikko, Shibuya, Sendai
South Korea=Korea: Seoul, Busan, Incheon, Daegu, Daejeon, Jeju, Gangnam
Singapore
Thailand: Bangkok, Chiang Mai, Phuket, Pattaya, Krabi, Koh Samui
Vietnam: Hanoi, Ho Chi Minh City, Da Nang, Hoi An, Hue!, Saigon
Indonesia: Jakarta, Bali, Surabaya, Bandung, Yogyakarta, Lombok, Ubud
Philippines: Manila, Cebu, Davao, Palawan
Malaysia: Kuala Lumpur, Penang, Johor Bahru, Borneo
Australia: Sydney, Melbourne, Brisbane, Perth, Adelaide!, Canberra, Hobart, Darwin!, Cairns, Gold Coast,
    Tasmania, Queensland, Byron Bay, Alice Springs
New Zealand: Auckland, Wellington, Christchurch, Queenstown, Dunedin
South Africa: Cape Town, Johannesburg, Durban, Pretoria, Stellenbosch, Soweto
Nigeria: Lagos, Abuja, Ibadan, Kano, Port Harcourt
Kenya: Nairobi, Mombasa, Kisumu
Egypt: Cairo, Alexandria, Luxor, Aswan, Giza, Sinai
Morocco: Marrakesh, Casablanca, Fez!, Rabat, Tangier, Agadir, Marrakech, Essaouira
Israel: Tel Aviv, Jerusalem, Haifa, Eilat
United Arab Emirates=UAE: Dubai, Abu Dhabi, Sharjah
Saudi Arabia: Riyadh, Jeddah, Mecca, Medina
Europe
Asia
Africa
Antarctica
Luxembourg
Slovakia: Bratislava, Košice=Kosice
Slovenia: Ljubljana, Maribor, Bled!
Serbia: Belgrade, Novi Sad, Niš
Bosnia: Sarajevo, Mostar
Montenegro: Podgorica, Kotor
Albania: Tirana
North Macedonia: Skopje, Ohrid
Kosovo: Pristina
Moldova: Chișinău=Chisinau
Belarus: Minsk
Malta: Valletta
Cyprus: Nicosia, Limassol
Georgia!: Tbilisi, Batumi
Armenia: Yerevan
Azerbaijan: Baku
Kazakhstan: Almaty, Astana
Ecuador: Quito, Guayaquil, Galápagos
Bolivia: La Paz, Sucre
Uruguay: Montevideo
Paraguay: Asunción
Venezuela: Caracas
Costa Rica: San José
Panama: Panama City
Guatemala: Antigua
Cuba: Havana
Jamaica: Kingston
Dominican Republic: Santo Domingo
Puerto Rico: San Juan
Haiti
Honduras
Nicaragua
El Salvador
Pakistan: Karachi, Lahore, Islamabad
Bangladesh: Dhaka, Chittagong
Sri Lanka: Colombo, Kandy
Nepal: Kathmandu, Pokhara
Bhutan
Myanmar: Yangon
Cambodia: Phnom Penh, Siem Reap
Laos: Vientiane, Luang Prabang
Taiwan: Taipei, Kaohsiung, Taichung
Fiji
Ghana: Accra, Kumasi
Senegal: Dakar
Ivory Coast: Abidjan
Tanzania: Dar es Salaam, Arusha, Zanzibar, Kilimanjaro
Uganda: Kampala
Rwanda: Kigali
Ethiopia: Addis Ababa
Namibia: Windhoek
Botswana: Gaborone
Zambia: Lusaka
Zimbabwe: Harare
Mozambique: Maputo
Madagascar: Antananarivo
Mauritius
Tunisia: Tunis
Algeria: Algiers
Libya: Tripoli
Sudan: Khartoum
Cameroon: Douala, Yaoundé
Angola: Luanda
Palestine: Ramallah, Gaza
Lebanon: Beirut
Jordan!: Amman, Petra!
Syria: Damascus, Aleppo
Iraq: Baghdad, Erbil
Iran: Tehran, Isfahan, Shiraz
Qatar: Doha
Kuwait
Bahrain: Manama
Oman: Muscat
Afghanistan: Kabul
Uzbekistan: Tashkent, Samarkand
Mongolia: Ulaanbaatar
South America
North America
Central America
Scandinavia
Middle East
Latin America
Caribbean
Balkans
Alps
Pyrenees
Himalayas
Dolomites
Mediterranean
Sahara
Andes
"""


def _by_country() -> dict[str, str]:
    table: dict[str, str] = {}
    country = ""
    for line in _PLACES.strip().splitlines():
        if line.startswith(" "):
            table[country] += f" {line.strip()}"
        else:
            country, _, places = line.partition(":")
            table[country] = places.strip()
    return table


PLACES = _by_country()
"""Places by country, each as `gazetteer.py` reads its entries."""
