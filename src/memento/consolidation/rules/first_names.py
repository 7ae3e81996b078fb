"""First names of people, from many languages, that are seldom anything else when they have a capital."""

from __future__ import annotations

from memento.consolidation.rules.lexicon import word_set

FIRST_NAMES = word_set("""
    Aaron Abby Abdul Abdullah Abigail Ada Adaeze Adam Adela Adele Aditi Aditya Adrian Adriana Adrián Aga Agata
    Agathe Agnes Agnieszka Ahmed Aiden Aiko Aileen Aino Aisha Aki Akira Alan Alba Albert Alda Alejandro Aleksandar
    Aleksander Aleksandra Alessandra Alessandro Alex Alexa Alexander Alexandra Alexei Alexis Alfie Alfonso Alfred
    Ali Alice Alicia Alina Alison Alistair Allan Allen Allison Alma Alvaro Alvin Amal Amalia Amanda Amara Amaya
    Amelia Amelie Amina Amir Amira Amit Amos Amy Amélie Ana Anastasia Anders Anderson Andre Andrea Andreas Andreea
    Andrei Andrej Andrew Andrzej Andrés Andy Anette Angela Angelica Angelina Angelo Angus Anika Anil Anisha Anita
    Anja Anjali Anke Ann Anna Annabel Annalisa Anne Anneke Annelies Annette Annie Annika Ansel Anselm Anthony Antje
    Antoine Anton Antonella Antonia Antonio Anuradha Anwar Anya Arash Ari Aria Arianna Ariel Arjun Arlo Armando Arne
    Arnold Arthur Arun Arvid Asha Ashley Ashok Asif Astrid Atsuko Audrey Augustin Aurelia Aurélie Ava Axel Aya Ayaan
    Ayesha Aylin Ayşe Bailey Baptiste Barbara Barnaby Barry Bart Bartosz Bashir Basil Bastian Bea Beata Beate
    Beatrice Becky Belinda Bella Ben Benedetta Benedict Benedikt Benito Benjamim Benjamin Benji Bennett Benny Bente
    Berit Bernadette Bernard Bernardo Bernd Bernice Bert Berta Bertha Bertram Beth Betty Bianca Bice Bilal Bill
    Birgit Björn Blake Blanca Bob Bobby Bogdan Bonnie Boris Boyd Brad Bram Brandon Branka Branko Brenda Brent Brett
    Brian Bridget Brigitte Britta Bronwyn Brooke Bruce Bruno Bryan Bryce Byron Caitlin Caleb Callum Calvin Cameron
    Camila Camille Candice Cara Carina Carl Carla Carlo Carlos Carlotta Carly Carmen Carol Carola Carolina Caroline
    Carolyn Carrie Casper Cassandra Catalina Catarina Catherine Cathy Cecil Cecile Cecilia Cedric Celeste Celia
    Celine Cesar Chad Chandra Chantal Charlene Charles Charlie Charlotte Chelsea Chen Cheryl Chiara Chinedu Chiyo
    Chloe Chris Christa Christel Christian Christina Christine Christoph Christophe Christopher Chuck Ciara Cillian
    Cindy Claire Clara Clare Clarence Clarissa Claude Claudia Claudine Clay Clemens Clement Clyde Cody Cole Colette
    Colin Connor Conor Conrad Constance Cora Cordelia Corinna Corinne Cornelia Cornelius Cosima Courtney Craig
    Cristian Cristiano Cristina Curtis Cyd Cynthia Cyril Cécile Céline César Daan Dagmar Daisy Dale Dalia Damian
    Damien Damon Dan Dana Danica Daniel Daniela Danielle Danny Daphne Daria Darius Darko Darla Darren Daryl Dave
    David Dawn Dean Deb Debbie Deborah Deepak Deirdre Delia Delphine Denis Denise Dennis Derek Desiree Desmond
    Detlef Devon Diana Diane Didier Diego Dieter Dilip Dima Dimitri Dimitris Dina Dinesh Dino Dirk Divya Diya
    Djamila Dmitri Dmitry Dolores Domenico Dominic Dominik Dominika Dominique Don Donald Donatella Donna Donovan
    Dora Dorian Doris Dorota Dorothea Dorothy Doug Douglas Dragan Drew Duncan Dusan Dustin Dwayne Dwight Dylan Eamon
    Earl Eberhard Ed Edda Eddie Edgar Edith Edmund Eduard Eduardo Edward Edwin Edyta Eetu Efua Egon Eileen Einar
    Ekaterina Elaine Eleanor Elena Eleni Eleonora Eli Elias Elif Elijah Elin Elina Eliot Eliott Elisa Elise Eliza
    Elizabeth Elke Ella Ellen Elliot Elliott Elodie Eloise Elsa Elton Elvira Elzbieta Emerson Emil Emilia Emiliano
    Emilie Emilio Emily Emine Emir Emma Emmanuel Emmett Emre Enrique Enzo Eric Erica Erich Erik Erika Erin Ernest
    Ernesto Ernst Erwin Esme Esmé Esperanza Esteban Estella Estelle Ester Esther Ethan Ethel Etienne Eugene Eugenia
    Eugenio Eunice Eva Evan Eve Evelina Evelyn Evie Ewa Ewan Ezra Fabian Fabiana Fabienne Fabio Fabrice Faisal Faith
    Faiza Farah Farid Farida Fatima Fatma Federica Federico Felicia Felicity Felipe Felix Ferdinand Fergus Fern
    Fernando Filip Filippo Finley Finn Fiona Fleur Flora Florian Floriana Flynn Forrest Frances Francesca Francesco
    Francine Francis Francisco Franco Francois Frank Frankie Franklin Franz Franziska François Françoise Fraser Fred
    Freddie Frederic Frederica Frederick Frederik Freya Frida Frieda Friedrich Fritz Frédéric Gabe Gabriel Gabriela
    Gaia Gail Galina Gareth Garrett Gary Gaurav Gavin Geert Gemma Gene Genevieve Geoff Geoffrey Georg George
    Georgina Gerald Gerard Gerhard Germaine Gero Gerrit Gert Gertrude Giacomo Gianluca Gianni Gideon Gilbert Giles
    Gillian Gina Gino Giorgia Giorgio Giovanna Giovanni Gisela Giulia Giuliana Giuliano Giuseppe Gladys Glen Glenda
    Glenn Gloria Goran Gordon Gottfried Grace Gracie Graeme Graham Grant Grazia Graziella Greg Gregor Gregory Greta
    Gretchen Grzegorz Guadalupe Gudrun Guido Guillaume Guillermo Gunnar Gunther Gustavo Guus Guy Gwen Gwendolyn
    Günther Habib Hadley Hagen Haider Hakan Hal Halima Hamid Hamza Hana Hanna Hannah Hanne Hannelore Hannes Hannu
    Hans Hans-Peter Hao Harald Hari Harley Harold Harper Harriet Harris Harrison Harry Harsh Haruka Haruki Harvey
    Hasan Hassan Hazel Heather Hedwig Heidi Heike Heiko Heinrich Heinz Hela Helen Helena Helga Helge Helmut Hendrik
    Henning Henri Henriette Henrik Henry Herbert Herman Hermann Hermine Hilary Hilda Hilde Hiro Hiroshi Holger Holly
    Honor Horst Howard Hubert Huda Hugh Hugo Hugues Humberto Hussein Hyun Håkon Ian Ibrahim Ida Idris Ignacio Igor
    Iker Ilaria Ilona Ilse Ilya Iman Imani Imogen Imran Ina Ines Inga Inge Ingeborg Ingmar Ingo Ingrid Inka Ioana
    Ira Irena Irene Irina Iris Iryna Isa Isaac Isabel Isabella Isabelle Isaiah Isak Ishaan Isla Ismael Ismail Isobel
    Ivan Ivana Ivo Ivy Iwona Jaakko Jacek Jack Jackie Jackson Jacob Jacopo Jacqueline Jacques Jad Jade Jaime Jakob
    Jakub Jamal James Jamie Jamila Jan Jan-Erik Jana Jane Janelle Janet Janice Janina Janine Janis Janusz Jared
    Jarek Jari Jaroslav Jasmin Jasmine Jason Jasper Javier Jay Jaya Jayden Jayne Jean Jeanette Jeanne Jed Jeff
    Jeffrey Jelena Jemma Jen Jenna Jennifer Jenny Jens Jeremy Jeroen Jerome Jerry Jesper Jess Jesse Jessica Jesús
    Jette Jia Jian Jill Jim Jimena Jimmy Jin Jing Jitka Jo Joachim Joakim Joan Joana Joanna Joao Joaquin Joaquín
    Jochen Jodie Jody Joe Joel Joep Joey Johan Johanna Johannes John Johnny Jolanda Jolene Jolie Jon Jonas Jonathan
    Joni Joost Jordan Jorge Joris Jos Jose Josef Josefa Josefina Josefine Joseph Josephine Josh Joshua Josie Josip
    Jovan Joy Joyce João Juan Juana Juanita Jude Judit Judith Judy Julia Julian Juliana Juliane Julie Julien Juliet
    Juliette Julio Julius Jun Jurgen Justin Justine Justyna Jutta Jyoti Jérôme Jörg Jürgen Kacper Kai Kamal Kamil
    Kamila Kamran Kara Karel Karen Karim Karima Karin Karina Karl Karla Karsten Kasia Kaspar Kasper Katarina
    Katarzyna Kate Katerina Katharina Katherine Kathleen Kathrin Kathryn Kathy Katia Katie Katja Katrin Katy Katya
    Kavita Kaya Kayla Kazimierz Keiko Keira Keith Kelly Kelsey Kelvin Ken Kendall Kendra Kenji Kenneth Kenny Kent
    Kerry Kerstin Kevin Khadija Khaled Khalid Kian Kieran Killian Kim Kimberly Kinga Kiran Kirill Kirsten Kirsty Kit
    Kitty Kjell Klara Klaus Knut Kofi Konrad Konstantin Kostas Kris Krishna Kristen Kristian Kristiina Kristin
    Kristina Kristof Kristy Krzysztof Kumar Kurt Kwame Kyla Kyle Kylie Kyra Lachlan Laila Lana Lance Lara Larry Lars
    Lasse Laszlo Laura Laurel Lauren Laurence Laurens Laurent Laurie Lavinia Lawrence Layla Lea Leah Leandro Lee
    Leif Leigh Leila Lena Lennart Lenny Leo Leon Leona Leonard Leonardo Leonhard Leonie Leonor Leopold Leroy Lesley
    Leslie Leticia Levi Lewin Lewis Lexi Leyla Li Lia Liam Liana Lidia Lieke Liesbeth Lila Lilian Lilli Lillian
    Lilly Lily Lina Linda Linnea Linus Lionel Lior Lisa Livia Liz Ljubica Logan Lois Lola Lolita Loren Lorena
    Lorenzo Loretta Lori Lorna Lorraine Lotta Lotte Lottie Lou Louie Louis Louise Luc Luca Lucas Lucia Luciana
    Luciano Lucie Lucien Lucille Lucinda Lucy Ludmila Ludovic Ludwig Luigi Luis Luisa Luiz Luka Lukas Lukasz Luke
    Lulu Luna Lutz Luz Lydia Lyle Lynn Lyra László Maarten Mabel Maciej Madeleine Madeline Madison Mads Mae Magda
    Magdalena Maggie Magnus Maia Maja Makoto Malcolm Malik Malin Malte Malu Mandy Manfred Manish Manoj Manon Manuel
    Manuela Marc Marcel Marcela Marcella Marcello Marcelo Marcin Marco Marcus Marek Margaret Margarita Margaux
    Margit Margot Margret Marguerite Maria Mariam Marian Mariana Marianne Marie Marie-Claire Mariella Marietta
    Marijke Marika Mariko Marilyn Marina Mario Marion Marisa Marisol Marit Marius Marjan Marjorie Mark Marko Markus
    Marla Marlene Marlies Marlon Marnie Marsha Marshall Marta Martha Martin Martina Marvin Mary Maryam Marysia Mason
    Massimo Mateo Mathias Mathieu Mathilda Mathilde Matias Matilda Matt Matteo Matthew Matthias Matti Mattia Mattias
    Matěj Maud Maude Maureen Maurice Mauricio Maurizio Mauro Max Maxim Maxime Maximilian Maxine Maya Meera Megan
    Mehdi Mehmet Mei Mel Melanie Melissa Meredith Merle Mette Mia Micaela Micah Micha Michael Michaela Michal Michał
    Michel Michela Michele Michelle Mick Mieke Miguel Miguelito Mihai Mika Mikael Mike Mikhail Mikkel Miklos Mila
    Milena Miles Milica Millie Milo Milos Miloš Mimi Mina Minh Minna Mira Mireille Mirela Mirella Miriam Mirjam
    Mirko Miroslav Mitch Mitchell Mitsuko Mohamed Mohammad Mohammed Mohan Moira Moises Molly Momo Mona Monica Monika
    Monique Montserrat Morgan Moritz Moses Muhammad Murray Mustafa Myra Myriam Mārtiņš Nabil Nadia Nadine Nadja
    Naima Najib Nana Nancy Nando Nanette Naomi Natalia Natalie Natasha Natasja Nate Nathalie Nathan Nathaniel Naveen
    Ned Neha Neil Nell Nellie Nelly Nelson Nena Nenad Nerea Nestor Neus Nevena Ngozi Niall Niamh Nicholas Nick Nico
    Nicola Nicolai Nicolas Nicole Nicoletta Nicolás Nicolò Niels Nigel Nikhil Niki Nikita Niklas Niko Nikola Nikolai
    Nikolas Nikolaus Nils Nina Nino Nirav Nisha Noah Noam Noel Noelle Noemi Nola Noor Nora Norbert Norma Norman Nour
    Noémie Nuno Nuria Núria Obinna Octavia Odette Odile Ola Olaf Olav Ole Oleg Oleksandr Olena Olga Olive Oliver
    Olivia Oliwia Olof Omar Omid Ondrej Oona Orla Orson Osama Oscar Oskar Osman Ottavia Ottilie Otto Owen Oyvind
    Pablo Paige Palina Palle Paloma Pam Pamela Paola Paolo Parisa Pascal Pat Patience Patrice Patricia Patrick
    Patrik Patrizia Patti Patty Paul Paula Paulina Pauline Paulo Pavel Pavol Pawel Paweł Payton Pearl Pedro Peggy
    Penelope Penny Pepe Percy Perrine Petar Pete Peter Petr Petra Petros Phil Phila Philip Philipp Philippa Philippe
    Phillip Phoebe Phyllis Pia Piero Pierre Pieter Pietro Pilar Piotr Pippa Polly Pooja Poppy Pradeep Pranav
    Prashant Preeti Preston Prisca Priscilla Priya Priyanka Quentin Quinn Quirin Rachel Rachid Radek Radka Rafael
    Rafaela Rafaella Rafał Ragnar Rahul Rainer Raissa Raj Rajesh Rajiv Rakesh Ralf Ralph Ramesh Ramon Ramona Ramón
    Randy Rania Raoul Raquel Rashid Rasmus Raul Raven Ravi Ray Raymond Raúl Rebecca Rebekah Reed Reggie Regina
    Reginald Reiko Reinhard Reino Renata Renate Renato Rene Renee René Renée Reto Reuben Rex Reza Rhea Rhys Ria
    Ricardo Riccardo Rich Richard Richie Rick Rika Riku Riley Rishi Risto Rita Ritu Rob Robbie Robert Roberta
    Roberto Robin Rocco Rodrigo Roger Rohan Rohit Roisin Roland Rolf Romain Roman Romana Romeo Romy Ron Ronald Ronan
    Ronja Ronnie Ronny Rory Rosa Rosalie Rosalind Rosanna Rosario Rose Roseanne Rosemarie Rosemary Rosie Rosita Ross
    Rowan Roxana Roxanne Roy Ruben Ruby Rubén Rudi Rudolf Rudy Rufus Rui Runa Rune Rupert Ruslan Russ Russell Rutger
    Ruth Ruxandra Ryan Saanvi Sabine Sabrina Sachin Sadie Safiya Sai Saki Salim Sally Salma Salvatore Sam Samantha
    Sami Samira Sammy Samuel Sandeep Sander Sandra Sandrine Sandro Sandy Sanjana Sanjay Sanna Sanne Santino Saoirse
    Sara Sarah Sascha Sasha Saskia Savannah Scarlet Scarlett Scott Sean Sebastian Sebastiano Sebastien Seema Selim
    Selin Selina Selma Sena Senna Seo-yeon Sepp Serena Serge Sergei Sergey Sergio Serhii Seth Severin Shane Shankar
    Shannon Shari Sharif Sharon Shaun Shauna Shawn Shea Sheila Shelby Shelley Sherry Shirin Shirley Shivani Shona
    Shreya Shu Siddharth Siegfried Sigrid Silas Silja Silke Silvana Silvia Silvio Simon Simona Simone Simonetta Sina
    Sinead Siobhan Siri Sissel Siv Slavica Snezana Sobia Soeren Sofia Sofie Solange Soledad Solomon Solveig Sonia
    Sonja Sonny Sonya Sophia Sophie Sophus Soraya Spencer Stacey Stan Stanislav Stanisław Stanley Stavros Stefan
    Stefania Stefanie Stefano Steffen Steffi Stein Stella Stephan Stephane Stephania Stephanie Stephen Steve Steven
    Stine Stuart Stéphane Subhash Sue Suki Suleiman Suman Sumit Sunil Sunita Sunniva Suresh Susan Susana Susanna
    Susanne Susie Suzana Suzanne Suzie Suzy Svea Svein Sven Svetlana Swati Sybil Sybille Sylvain Sylvester Sylvia
    Sylvie Szymon Sébastien Søren Tabea Tabitha Tadeusz Takeshi Talia Tamar Tamara Tami Tammy Tamsin Tania Tanja
    Tanya Tara Taras Tariq Tarun Tasha Tatiana Tatjana Tatum Taylor Ted Teddy Teo Teodor Terence Teresa Tereza
    Terrence Terry Tess Tessa Thea Thelma Theo Theodor Theodora Theodore Theresa Thiago Thibault Thierry Thijs Thilo
    Thomas Thor Thora Thorsten Thérèse Tia Tiago Tiffany Tilda Tilly Tim Timo Timothy Timur Tina Tine Tito Titus
    Tobi Tobiah Tobias Toby Todd Tom Tomas Tomasz Tommaso Tommy Tomáš Toni Tony Tonya Tor Torben Tore Torsten Tove
    Tracy Travis Trent Trevor Trina Tristan Troy Trudy Tuan Tuomas Tyler Ulf Uli Ulla Ulrich Ulrike Uma Umar Una
    Ursula Usha Ute Uwe Valentin Valentina Valentino Valeria Valerie Valerio Valérie Vanessa Varun Vasil Vasilis
    Vaughn Veit Velma Venla Vera Verena Verity Vernon Veronica Veronika Vesna Vicente Vicki Vicky Victor Victoria
    Vidya Vijay Vikas Vikram Viktor Vilde Ville Vilma Vinay Vince Vincent Vincente Vincenzo Viola Violet Violeta
    Violetta Vito Vittoria Vittorio Vivek Vivian Vivien Vivienne Vladimir Volker Václav Wade Waleed Walid Wallace
    Walter Waltraud Wanda Warren Wayne Wei Wendel Wendell Wendy Werner Werther Wesley Whitney Wiebke Wilfred Wilhelm
    Wilhelmina Will Willa Willem Willi William Willie Willow Wilma Winnie Winston Wojciech Wolfgang Wout Wouter
    Wyatt Xander Xavi Xavier Ximena Yael Yan Yana Yann Yannick Yannis Yara Yasemin Yash Yasmin Yasmina Yasmine
    Yehuda Yelena Yin Ying Yoav Yoko Yolanda Yoshi Youssef Ysabel Yuki Yulia Yuliya Yuna Yuri Yusra Yusuf Yves
    Yvette Yvonne Zac Zach Zachary Zack Zadie Zainab Zaki Zan Zara Zdenek Zelda Zeno Zeynep Zoe Zoey Zofia Zoltan
    Zora Zoran Zsofia Zuri Zuzana Álvaro Éloïse Émilie Étienne Øyvind Łukasz
    """)
