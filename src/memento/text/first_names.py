"""First names of people, from many languages, that are seldom anything else when they have a capital."""

from __future__ import annotations

from memento.text.words import word_set

FIRST_NAMES = word_set("""
    Aarav Aaron Abby Abdul Abdullah Abebe Abena Abigail Achieng Ada Adaeze Adam Adela Adele Aditi Aditya Adrian
    Adriana Adrián Advait Afonso Aga Agata Agatha Agathe Agnes Agnieszka Agus Ahmed Ahmet Aiden Aiko Aileen Ailsa
    Aino Aisha Aisling Aki Akira Akosua Alan Alasdair Alba Albert Alda Alejandro Aleksandar Aleksander Aleksandra
    Alessandra Alessandro Alessia Alex Alexa Alexander Alexandra Alexei Alexis Alfie Alfonso Alfred Ali Alice Alicia
    Alina Alison Alistair Allan Allen Allison Alma Alvaro Alvin Alyona Amadou Amaka Amal Amalia Amanda Amara Amaya
    Ambrose Amelia Amelie Amina Aminata Amir Amira Amit Amos Amy Amélie Ana Anahit Ananya Anastasia Anatoly Anca
    Anders Anderson Andre Andrea Andreas Andreea Andrei Andrej Andrew Andriy Andrzej Andrés Andy Anette Angela
    Angelica Angelina Angelo Angharad Angus Ania Anika Anil Anisha Anita Anja Anjali Anke Ann Anna Annabel Annalisa
    Anne Anneke Anneli Annelies Annette Annie Annika Anouk Ansel Anselm Anthea Anthony Antje Antoine Anton Antonella
    Antonia Antonio Antti Anuradha Anwar Anya Aoife Arabella Araminta Arash Ari Aria Ariadne Arianna Ariel Arjun
    Arlo Armando Armen Arne Arnold Aroha Arthur Arun Arvid Asha Ashley Ashok Asif Astrid Atsuko Audrey Augusta
    Augustin Augustus Aurelia Aurélie Ava Axel Aya Ayaan Ayesha Aylin Ayse Ayumi Ayşe Aziz Azlan Babak Bahar Bailey
    Balazs Balwinder Balázs Baptiste Barbara Barnaby Barry Bart Bartek Bartholomew Bartosz Bashir Basia Basil
    Bastian Bea Beata Beate Beatrice Beatrix Beatriz Becky Behrouz Belinda Bella Ben Benedetta Benedict Benedikt
    Benito Benjamim Benjamin Benji Bennett Benny Benoit Benoît Bente Beppe Berit Bernadette Bernard Bernardo Bernd
    Bernice Bert Berta Bertha Bertram Beth Betty Bianca Bice Bilal Bill Bilqis Birgit Bjorn Björn Blake Blanca
    Blythe Bob Bobby Bogdan Bohdan Bonnie Boris Boyd Bozena Bożena Brad Bram Brandon Branka Branko Brenda Brendan
    Brent Brett Brian Bridget Brigid Brigitte Briony Britta Bronwen Bronwyn Brooke Bruce Bruno Bryan Bryce Bryony
    Budi Burak Byron Caetano Caitlin Caleb Calliope Callum Calvin Cameron Camila Camille Candice Caoimhe Cara Carina
    Carl Carla Carlo Carlos Carlotta Carly Carmen Carol Carola Carolina Caroline Carolyn Carrie Carys Casimir Casper
    Caspian Cassandra Cassius Catalina Catarina Catherine Cathy Catriona Cecil Cecile Cecilia Cecily Cedric Celeste
    Celia Celine Ceridwen Cerys Cesar Chad Chamari Chandra Chantal Charlene Charles Charlie Charlotte Cheikh Chelsea
    Chen Cheryl Chiara Chidi Chihiro Chinedu Chioma Chitra Chiyo Chloe Chloé Chris Christa Christel Christian
    Christina Christine Christoph Christophe Christopher Chuck Cian Ciara Cillian Cindy Claire Clara Clare Clarence
    Clarissa Claude Claudia Claudine Clay Clemens Clement Clementine Clyde Cody Cole Colette Colin Connor Conor
    Conrad Constance Consuelo Cora Cordelia Corinna Corinne Cormac Cornelia Cornelius Cosima Cosmin Courtney Craig
    Cressida Crispin Cristian Cristiano Cristina Curtis Cuthbert Cyd Cynthia Cyril Cécile Céline César Daan Dag
    Dagmar Daichi Daisy Dale Dalia Damian Damien Damon Dan Dana Danica Daniel Daniela Danielle Danny Danuta Daphne
    Daria Dario Darius Dariush Darko Darla Darren Darya Daryl Dave David Davide Dawn Dean Deb Debbie Deborah Declan
    Deepa Deepak Deirdre Delia Delphine Denis Denise Deniz Dennis Derek Derya Desiree Desmond Detlef Devon Dewi
    Diana Diane Didier Diego Dieter Digby Dilip Dilshan Dima Dimitri Dimitris Dina Dinesh Dino Dirk Divya Diya
    Djamila Dmitri Dmitry Dolores Domenico Dominic Dominik Dominika Dominique Don Donald Donatella Donna Donovan
    Dora Dorian Doris Dorota Dorothea Dorothy Doug Douglas Dragan Dragos Drew Duarte Duncan Dusan Dustin Dwayne
    Dwight Dylan Eamon Earl Ebba Eberhard Ebru Ed Edda Eddie Edgar Edith Edmund Eduard Eduardo Edward Edwin Edyta
    Eetu Eeva Efua Egon Eileen Eilidh Einar Eino Ekaterina Elaine Eleanor Elena Eleni Eleonora Eli Elias Elif Elijah
    Elin Elina Elio Eliot Eliott Elisa Elise Eliza Elizabeth Elke Ella Ellen Elliot Elliott Elodie Eloise Elsa Elsie
    Elton Elvira Elzbieta Emeka Emerson Emil Emilia Emiliano Emilie Emilio Emily Emine Emir Emma Emmanuel Emmett
    Emre Emrys Enoch Enrico Enrique Enzo Eoin Eric Erica Erich Erik Erika Erin Ernest Ernesto Ernst Erwin Esi Esme
    Esmé Esperanza Esteban Estella Estelle Ester Esther Eszter Ethan Ethel Etienne Eugene Eugenia Eugenio Eunice
    Eunji Eva Evan Eve Evelina Evelyn Evie Ewa Ewan Ezra Fabian Fabiana Fabienne Fabio Fabrice Fabrizio Fadi Faisal
    Faith Faiza Faizal Farah Farai Farhad Farid Farida Fatima Fatma Fatoumata Federica Federico Felicia Felicity
    Felipe Felix Femi Femke Ferdinand Fergus Fern Fernando Filip Filipa Filippo Finley Finn Fiona Fionn Fiorella
    Fleur Flora Florian Floriana Florin Flynn Folake Forrest Frances Francesca Francesco Francine Francis Francisco
    Franco Francois Frank Frankie Franklin Franz Franziska François Françoise Fraser Fred Freddie Frederic Frederica
    Frederick Frederik Freja Freya Frida Frieda Friedrich Fritz Frédéric Fynn Gabe Gabor Gabriel Gabriela Gaia Gail
    Galina Ganesh Gareth Garrett Gary Gaurav Gavin Gaël Geert Geeta Gemma Gene Genevieve Geneviève Geoff Geoffrey
    Georg George Georgina Gerald Gerard Gerd Gergely Gerhard Germaine Gero Gerrit Gert Gertrude Gethin Giacomo
    Gianluca Gianni Gideon Gilbert Giles Gillian Gina Ginevra Gino Giorgi Giorgia Giorgio Giovanna Giovanni Gisela
    Giulia Giuliana Giuliano Giuseppe Gladys Glen Glenda Glenn Gloria Golnaz Gonçalo Goran Gordon Gosia Gottfried
    Grace Gracie Graciela Graeme Graham Grainne Grant Grazia Graziella Grazyna Grażyna Greg Gregor Gregory Greta
    Gretchen Griet Grigori Grzegorz Guadalupe Gudrun Guido Guillaume Guillermo Gunnar Gunther Gurpreet Gustavo Guus
    Guy Gwen Gwendolyn Gábor Günther Habib Hadley Hafsa Hagen Haider Haile Hakan Hal Haldor Halima Halina Halvard
    Hamid Hamish Hamza Hana Hania Hanna Hannah Hanne Hannelore Hannes Hannu Hans Hans-Peter Hao Harald Hari Harley
    Harold Harper Harpreet Harriet Harris Harrison Harry Harsh Haruka Haruki Harvey Hasan Hassan Hattie Hayk Hazel
    Heather Hedwig Heidi Heike Heiko Heinrich Heinz Hela Helen Helena Helga Helge Helmut Hendrik Henna Henning Henri
    Henrietta Henriette Henrik Henry Herbert Herman Hermann Hermine Hermione Hester Hilary Hilda Hilde Hildegard
    Hiro Hiroshi Hisham Holger Holly Honor Horatio Horst Howard Hrvoje Hubert Huda Hugh Hugo Hugues Humberto
    Humphrey Huong Hussein Hyejin Hyun Håkon Ian Ibrahim Ibrahima Ida Idris Ifeoma Ignacio Igor Iker Ilaria Ildiko
    Ildikó Ilona Ilse Ilya Iman Imani Imogen Imran Ina Indira Ines Inga Inge Ingeborg Ingmar Ingo Ingrid Inigo Inka
    Inés Ioana Iolo Ira Irakli Irena Irene Irina Iris Iryna Isa Isaac Isabel Isabella Isabelle Isaiah Isak Ishaan
    Ishan Isidore Isla Ismael Ismail Isobel Isolde Istvan István Itzel Ivan Ivana Ivo Ivor Ivy Iwona Jaakko Jacek
    Jack Jackie Jackson Jacob Jacopo Jacqueline Jacques Jad Jade Jadwiga Jaime Jakob Jakub Jamal James Jamie Jamila
    Jan Jan-Erik Jana Jane Janelle Janet Janice Janina Janine Janis Janne Jannik Janusz Jared Jarek Jari Jarkko
    Jaroslav Jasmin Jasmine Jason Jasper Jaspreet Javier Jay Jaya Jayden Jayne Jean Jeanette Jeanne Jed Jeff Jeffrey
    Jelena Jemima Jemma Jen Jenna Jennifer Jenny Jens Jeremy Jeroen Jerome Jerry Jesper Jess Jesse Jessica Jesús
    Jethro Jette Jia Jian Jiho Jill Jim Jimena Jimmy Jin Jing Jiri Jisoo Jitka Jiyoung Jiří Jo Joachim Joakim Joan
    Joana Joanna Joao Joaquin Joaquín Jocasta Jochen Jodie Jody Joe Joel Joep Joey Johan Johanna Johannes John
    Johnny Jolanda Jolene Jolie Jon Jonas Jonathan Joni Joost Jordan Jorge Joris Jorma Jos Jose Josef Josefa
    Josefina Josefine Joseph Josephine Josh Joshua Josie Josip Jouni Jovan Jovana Joy Joyce João Juan Juana Juanita
    Jude Judit Judith Judy Jukka Julia Julian Juliana Juliane Julie Julien Juliet Juliette Julio Julius Jun Juno
    Jurgen Justin Justine Justyna Jutta Jyoti Jérôme Jörg Jürgen Kacper Kai Kailani Kaisa Kaito Kamal Kamau Kamil
    Kamila Kamran Kaori Kara Karel Karen Karim Karima Karin Karina Karl Karla Karsten Karthik Kasia Kasimir Kaspar
    Kasper Katarina Katarzyna Kate Katerina Katharina Katherine Kathleen Kathrin Kathryn Kathy Katia Katie Katja
    Katka Katrin Katy Katya Kaveh Kavita Kavya Kaya Kayla Kazimierz Keanu Keiko Keira Keith Kelly Kelsey Kelvin
    Kemal Kemi Ken Kendall Kendra Kenji Kenneth Kenny Kent Kerry Kerstin Ketevan Ketut Kevin Khadija Khaled Khalid
    Kian Kieran Killian Kim Kimberly Kinga Kiran Kirill Kirsten Kirsty Kit Kitty Kjell Klara Klaus Knut Koen Kofi
    Kojo Konrad Konstantin Kostas Kris Krishna Kristen Kristian Kristiina Kristin Kristina Kristof Kristy Krzysztof
    Ksenia Kseniya Kuba Kumar Kurt Kwabena Kwame Kyla Kyle Kylie Kyra Lachlan Laila Lakshmi Lana Lance Lara Larisa
    Larissa Larry Lars Lasse Laszlo Laura Laurel Lauren Laurence Laurens Laurent Laurie Lavinia Lawrence Layla Lea
    Leah Leander Leandro Lee Leif Leigh Leila Leilani Lena Lenka Lennart Lenny Leo Leon Leona Leonard Leonardo
    Leonhard Leonie Leonor Leonora Leopold Lerato Leroy Lesley Leslie Leticia Letitia Levan Levi Lewin Lewis Lexi
    Leyla Li Lia Liam Liana Lidia Lieke Liesbeth Lila Lilian Lilli Lillian Lilly Lily Lina Linda Linh Linnea Linus
    Lionel Lior Lisa Liv Livia Liz Ljubica Lodewijk Logan Lois Lola Lolita Loren Lorena Lorenzo Loretta Lori Lorna
    Lorraine Lothar Lotta Lotte Lottie Lou Louie Louis Louise Loïc Luana Luc Luca Lucas Lucia Lucian Luciana Luciano
    Lucie Lucien Lucille Lucinda Lucy Lucía Ludmila Ludo Ludovic Ludwig Luigi Luis Luisa Luiz Luka Lukas Lukasz Luke
    Lukáš Lulu Luna Lupe Lusine Lutz Luz Lydia Lyle Lynn Lyra László Maaike Maarten Mabel Maciej Madeleine Madeline
    Madison Mads Mae Maeve Mafalda Magda Magdalena Maggie Magnus Mahesh Maia Maisie Maja Makeda Makoto Malachi
    Malcolm Malgorzata Malik Malin Malini Malte Malu Mamadou Mandy Manfred Manish Manoj Manon Manpreet Manuel
    Manuela Marc Marcel Marcela Marcella Marcello Marcelo Marcin Marco Marcus Marek Margaret Margarida Margarita
    Margaux Margit Margot Margret Marguerite Maria Mariam Marian Mariana Marianne Marie Marie-Claire Marieke
    Mariella Marietta Marijke Marika Mariko Marilyn Marina Mario Marion Marisa Marisol Marit Marius Marjan Marjorie
    Mark Marketa Marko Markus Markéta Marla Marlene Marlies Marlon Marnie Marsha Marshall Marta Martha Martin
    Martina Marvin Mary Maryam Marysia Masha Mason Massimo Matej Mateo Mateusz Mathias Mathieu Mathilda Mathilde
    Matias Matilda Matilde Matt Matteo Matthew Matthias Matthieu Matti Mattia Mattias Matěj Maud Maude Maureen
    Maurice Mauricio Maurizio Mauro Mavis Max Maxim Maxime Maximilian Maxine Maya Maël Małgorzata Meera Megan Mehdi
    Mehmet Mei Mel Melanie Melissa Meredith Merle Mette Mia Micaela Micah Micha Michael Michaela Michal Michał
    Michel Michela Michele Michelle Mick Midori Mieke Miguel Miguelito Mihai Mihail Mika Mikael Mike Mikhail Mikkel
    Mikko Miklos Mila Mildred Milena Miles Milica Millicent Millie Milo Milos Miloš Mimi Mina Minh Minji Minjun
    Minna Mira Miranda Mireille Mirela Mirella Miriam Mirjam Mirko Miroslav Misha Mitch Mitchell Mitsuko Mohamed
    Mohammad Mohammed Mohan Moira Moises Molly Momo Mona Monica Monika Monique Montgomery Montserrat Morag Morgan
    Moritz Mortimer Moses Moussa Muhammad Murali Murat Muriel Murray Mustafa Mwangi Mykola Myra Myriam Myrtle
    Mārtiņš Nabil Nacho Nadeem Nadia Nadine Nadja Naima Najib Nana Nancy Nandini Nando Nanette Naoko Naomi Nasrin
    Nasser Natalia Natalie Natasha Natasja Nate Nathalie Nathan Nathaniel Naveen Ned Neha Neil Nele Nell Nellie
    Nelly Nelson Nena Nenad Nerea Nerissa Nerys Nestor Neus Nevena Neville Ngaire Ngoc Ngozi Niall Niamh Nicholas
    Nick Nico Nicola Nicolai Nicolas Nicole Nicoletta Nicolás Nicolò Niels Nigel Nikhil Niki Nikita Niklas Niko
    Nikola Nikolai Nikolas Nikolaus Nils Nina Nino Niran Nirav Nisha Njeri Nkechi Noah Noam Noel Noelle Noemi Nola
    Nomsa Noor Nora Norbert Norma Norman Nour Noémie Nuno Nuria Nurul Nuwan Nyoman Núria Oana Obadiah Obinna Octavia
    Octavian Oddvar Odette Odile Oisin Oksana Ola Olaf Olav Ole Oleg Oleksandr Olena Olga Olive Oliver Olivia Oliwia
    Olof Omar Omid Ondrej Ondřej Oona Ophelia Orhan Orla Ornella Orsolya Orson Osama Oscar Oskar Osman Oswald Otieno
    Otis Ottavia Ottilie Otto Ousmane Outi Owen Oyvind Pablo Padma Padraig Paige Palina Palle Paloma Pam Pamela
    Paola Paolo Parisa Parvati Pascal Pat Patience Patrice Patricia Patrick Patrik Patrizia Patti Patty Paul Paula
    Paulina Pauline Paulo Pavel Pavol Pawel Paweł Payton Pearl Pedro Peggy Pekka Pelle Penelope Penny Pepe Percival
    Percy Perdita Peregrine Perrine Petar Pete Peter Petr Petra Petros Phil Phila Philip Philipp Philippa Philippe
    Phillip Phineas Phoebe Phuong Phyllis Pia Piero Pierre Piers Pieter Pietro Pilar Piotr Pippa Pirjo Polina Polly
    Pooja Poppy Portia Pradeep Prakash Pranav Prashant Preeti Preston Prisca Priscilla Priya Priyanka Quang Quentin
    Quincy Quinn Quirin Rachel Rachid Radek Radha Radka Radu Rafael Rafaela Rafaella Rafał Ragnar Rahul Rainer
    Raissa Raj Rajesh Rajiv Rakesh Ralf Ralph Raluca Ramesh Ramon Ramona Ramón Randolph Randy Rania Raoul Raphael
    Raquel Rashid Rasmus Ratna Raul Raven Ravi Ray Raymond Raúl Rebecca Rebekah Reed Reggie Regina Reginald Reiko
    Reinhard Reino Rekha Renata Renate Renato Rene Renee René Renée Reto Reuben Revathi Rex Reza Rhea Rhys Ria
    Ricardo Riccardo Rich Richard Richie Rick Riitta Rika Riku Riley Rishi Risto Rita Ritu Riya Rizal Rob Robbie
    Robert Roberta Roberto Robin Rocco Rocio Rocío Roderick Rodrigo Roger Rohan Rohit Roisin Roland Rolf Romain
    Roman Romana Romeo Romy Ron Ronald Ronan Ronja Ronnie Ronny Rory Rosa Rosalie Rosalind Rosamund Rosanna Rosario
    Rose Roseanne Rosemarie Rosemary Rosie Rosita Ross Rowan Rowena Roxana Roxanne Roy Ruairi Ruben Ruby Rubén Rudi
    Rudolf Rudy Rufus Rui Runa Rune Rupert Ruslan Russ Russell Rutger Ruth Ruud Ruxandra Ryan Réka Rüdiger Saanvi
    Sabine Sabrina Sachin Sadia Sadie Safiya Sai Saki Salim Sally Salma Salvatore Sam Samantha Sami Samir Samira
    Sammy Samuel Sandeep Sander Sandra Sandrine Sandro Sandy Sanjana Sanjay Sanna Sanne Santino Saoirse Sara Sarah
    Sascha Sasha Saskia Satoshi Satu Savannah Scarlet Scarlett Scott Seamus Sean Sebastian Sebastiano Sebastien
    Seema Segun Selam Selim Selin Selina Selma Sena Senna Seo-yeon Seojun Sepp Serena Serge Sergei Sergey Sergio
    Serhii Seth Severin Shane Shankar Shannon Shari Sharif Sharon Shaun Shauna Shawn Shea Sheila Shelby Shelley
    Sherry Shirin Shirley Shivani Shona Shota Shreya Shu Siddharth Siegfried Signe Sigrid Silas Silja Silke Silvana
    Silvia Silvio Simon Simona Simone Simonetta Simran Sina Sinead Siobhan Sione Sipho Siri Siriporn Sirpa Sissel
    Siti Siv Sjoerd Slavica Slobodan Snezana Sobia Soeren Sofia Sofie Sofía Solange Soledad Solomon Solveig Somchai
    Sonia Sonja Sonny Sonya Soojin Sooyoung Sophia Sophie Sophus Soraya Spencer Srinivas Stacey Stan Stanislav
    Stanislaw Stanisław Stanley Stavros Stefan Stefania Stefanie Stefano Steffen Steffi Stein Stella Stellan Stephan
    Stephane Stephania Stephanie Stephen Steve Steven Stine Stuart Stéphane Subhash Sue Suki Suleiman Suman Sumit
    Sunil Sunita Sunniva Suresh Susan Susana Susanna Susanne Sushma Susie Suzana Suzanne Suzie Suzy Svea Svein Sven
    Svenja Svetlana Swati Sybil Sybille Sylvain Sylvester Sylvia Sylvie Szymon Sébastien Søren Tabea Tabitha Tadeusz
    Takashi Takeshi Talia Tamar Tamara Tami Tammy Tamsin Tania Tanja Tanvi Tanya Tara Taras Tariq Tarquin Tarun
    Tasha Tatiana Tatjana Tatum Taylor Ted Teddy Tendai Teo Teodor Terence Teresa Tereza Terrence Terry Tesfaye Tess
    Tessa Tevita Thabo Thaddeus Thais Thandi Thandiwe Thao Tharindu Thea Thelma Theo Theodor Theodora Theodore
    Theresa Thiago Thibault Thierry Thijs Thilo Thomas Thor Thora Thorsten Thuy Thérèse Tia Tiago Tiffany Tigran
    Tihana Tilda Tilly Tim Timo Timothy Timur Tina Tine Tito Titus Tobi Tobiah Tobias Toby Todd Tom Tomas Tomasz
    Tomek Tomislav Tommaso Tommy Tomoko Tomáš Toni Tony Tonya Tor Torben Tore Torquil Torsten Tove Tracy Travis
    Trent Trevor Trina Tristan Troy Trudy Tuan Tunde Tuomas Tuuli Tuva Tyler Uche Ulf Uli Ulla Ulrich Ulrike Ulysses
    Uma Umar Umberto Una Ursula Uschi Usha Ute Uwe Vaclav Valentin Valentina Valentino Valeria Valerie Valerio
    Valérie Vandana Vanessa Vanya Varun Vasil Vasilis Vaughn Veikko Veit Velma Venkat Venla Vera Verena Verity
    Vernon Veronica Veronika Vesna Vicente Vicki Vicky Victor Victoria Vidya Vijay Vikas Vikram Viktor Vilde Ville
    Vilma Vinay Vince Vincent Vincente Vincenzo Viola Violet Violeta Violetta Vito Vittoria Vittorio Vivaan Vivek
    Vivian Vivien Vivienne Vlad Vladimir Vojtech Vojtěch Volker Václav Véronique Wade Waleed Walid Wallace Walter
    Waltraud Wanda Wangari Wanjiru Warren Wayan Wayne Wei Wendel Wendell Wendy Werner Werther Wesley Whitney Wiebke
    Wieslaw Wilfred Wilhelm Wilhelmina Will Willa Willem Willi William Willie Willow Wilma Winifred Winnie Winston
    Wiremu Wojciech Wojtek Wolfgang Wout Wouter Wyatt Xander Xavi Xavier Xiaoming Ximena Yael Yan Yana Yann Yannick
    Yannis Yara Yaroslav Yasemin Yash Yasmin Yasmina Yasmine Yaw Yehuda Yelena Yetunde Yin Ying Ylva Yoav Yoko
    Yolanda Yoshi Youssef Ysabel Yuki Yulia Yuliya Yumi Yuna Yuri Yusra Yusuf Yves Yvette Yvonne Zac Zach Zachary
    Zack Zadie Zahra Zainab Zaki Zan Zanele Zara Zaynab Zbigniew Zdenek Zdeněk Zelda Zeno Zeynep Ziad Zinnia Zoe
    Zoey Zofia Zoltan Zoltán Zora Zoran Zosia Zoya Zsofia Zsófia Zuri Zuzana Zvonimir Ágnes Álvaro Élodie Éloïse
    Émilie Étienne Øyvind Łukasz
    """)
