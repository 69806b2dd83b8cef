"""Names of people, streets, cities and companies."""

# ruff: noqa: SIM905  # lists of words are easier to read as text

FIRST = (
    "Aaron Abigail Adam Adele Adrian Agnes Aisha Alan Alberto Alex Alice Alina Alison Amanda Amir Amy Ana Andrea "
    "Andrew Angela Anita Anna Anthony Arthur Ashley Astrid Barbara Beatrice Ben Bernard Beth Bianca Blake Brandon "
    "Brenda Brian Bridget Bruno Caleb Cameron Carla Carlos Caroline Catherine Cecilia Charles Charlotte Chloe Chris "
    "Christina Claire Clara Colin Connor Cynthia Daisy Damian Daniel Daphne David Dean Deborah Dennis Diana Diego "
    "Dominic Donna Doris Dorothy Douglas Dylan Edgar Edith Edward Eileen Elaine Eleanor Elena Elias Elijah "
    "Elizabeth Ella Emily Emma Eric Esther Ethan Eva Evelyn Fatima Felix Fiona Frances Frank Fred Gabriel Gail "
    "George Gerald Gina Gloria Gordon Grace Graham Greta Gustav Hannah Harold Harriet Harry Hassan Hazel Heather "
    "Hector Heidi Helen Henry Hope Howard Hugo Ian Ibrahim Ida Ingrid Irene Iris Isaac Isabel Ivan Jack Jacob Jade "
    "James Jamie Jane Janet Jasmine Jason Javier Jean Jeffrey Jennifer Jeremy Jesse Jessica Joan Joanna John Jonas "
    "Jonathan Jordan Jose Joseph Joshua Joyce Juan Judith Julia Julian Karen Karl Kate Keith Kelly Kenneth Kevin "
    "Kim Kristen Kurt Kyle Laura Lauren Lawrence Leah Leo Leonard Leslie Lewis Liam Lily Linda Lisa Logan Lois "
    "Louis Lucas Lucy Luis Luther Lydia Mabel Madison Marcus Margaret Maria Marie Marion Mark Martha Martin Mary "
    "Mateo Matthew Maurice Max Megan Melissa Michael Michelle Miguel Mildred Miles Miriam Mohammed Molly Monica "
    "Morgan Nadia Nancy Naomi Natalie Nathan Neil Nicholas Nicole Nina Noah Nora Norman Olga Oliver Olivia Omar "
    "Oscar Owen Pamela Patricia Patrick Paul Paula Pedro Penelope Peter Philip Phoebe Phyllis Priya Rachel Rafael "
    "Ralph Ramona Raymond Rebecca Regina Richard Rita Robert Robin Roger Ronald Rosa Rose Roy Ruby Russell Ruth "
    "Ryan Sabrina Sally Samantha Samuel Sandra Sara Scott Sean Sebastian Sergio Shannon Sharon Sheila Shirley Simon "
    "Sofia Sonia Sophie Spencer Stanley Stella Stephen Steven Susan Sylvia Tamara Tara Teresa Thomas Tiffany "
    "Timothy Tina Todd Tracy Travis Trevor Tyler Ursula Valerie Vanessa Vera Veronica Victor Victoria Vincent "
    "Violet Virginia Vivian Walter Wanda Warren Wayne Wendy Wesley William Yusuf Yvonne Zachary Zoe"
).split()

LAST = (
    "Abbott Adams Ahmed Allen Alvarez Anderson Andrews Archer Armstrong Arnold Atkins Austin Avery Bailey Baker "
    "Baldwin Banks Barker Barnes Barrett Barton Bates Becker Bell Bennett Benson Berg Bishop Black Blair Bloom Bond "
    "Bowen Bowman Boyd Bradley Brady Brennan Brewer Briggs Brooks Brown Bryant Buckley Burke Burns Burton Butler "
    "Byrne Cabrera Caldwell Campbell Cannon Carlson Carpenter Carr Carroll Carson Carter Castillo Castro Chambers "
    "Chan Chandler Chang Chapman Chavez Chen Cho Christensen Clark Clayton Cohen Cole Coleman Collins Conley Cooper "
    "Costa Cox Craig Crawford Cross Cruz Cunningham Curtis Daly Daniels Davidson Davies Dawson Delgado Dennis Diaz "
    "Dixon Donovan Douglas Doyle Drake Duncan Dunn Duran Edwards Elliott Ellis Erickson Espinoza Estrada Evans "
    "Farrell Faulkner Ferguson Fernandez Fields Figueroa Finch Fischer Fisher Fitzgerald Fleming Fletcher Flores "
    "Flynn Ford Foster Fowler Fox Franklin Fraser Freeman Fuller Gallagher Garcia Gardner Garrett George Gibson "
    "Gilbert Glover Gomez Gonzalez Goodman Gordon Graham Grant Gray Green Greene Griffin Gupta Gutierrez Haley Hall "
    "Hamilton Hammond Hansen Hardy Harper Harris Harrison Hart Harvey Hawkins Hayes Henderson Hernandez Higgins "
    "Hill Hodges Hoffman Holland Holmes Holt Hopkins Horton Houston Howard Hudson Hughes Hunt Hunter Hussain Ibarra "
    "Ingram Irwin Ito Jackson Jacobs James Jensen Jimenez Johnson Johnston Jones Joseph Kaplan Keller Kelly Kennedy "
    "Khan Kim Klein Knight Kowalski Kumar Lambert Lane Larson Lawson Lee Leonard Lewis Lindsey Logan Long Lopez "
    "Lowe Lucas Lynch Lyons Mackenzie Maldonado Mann Marsh Marshall Martinez Mason Matthews Maxwell McCarthy McCoy "
    "McDonald McKinney Medina Mendoza Meyer Miller Mills Mitchell Molina Montgomery Moore Morales Moreno Morgan "
    "Morris Morrison Morton Moss Munoz Murphy Murray Myers Nakamura Nash Navarro Nelson Newman Newton Nguyen "
    "Nichols Nielsen Nolan Norris Novak O'Brien O'Connor O'Neill Oliver Olsen Ortega Ortiz Osborne Owens Padilla "
    "Page Palmer Park Parker Patel Patterson Payne Pearson Perez Perkins Perry Peters Petersen Phillips Pierce "
    "Porter Potter Powell Price Quinn Ramirez Ramos Reed Reid Reyes Reynolds Rhodes Richards Riley Rivera Robbins "
    "Roberts Robinson Rodriguez Rogers Romero Rose Ross Rossi Rowe Russell Ryan Salazar Sanchez Sanders Santos "
    "Saunders Schmidt Schneider Schroeder Schultz Shaw Shepherd Sherman Silva Simmons Simpson Singh Sinclair Slater "
    "Sloan Smith Snyder Soto Sparks Spencer Stanley Stein Stevens Stewart Stone Strickland Sullivan Sutton Swanson "
    "Tanaka Taylor Thompson Thornton Torres Townsend Tran Tucker Turner Underwood Valdez Vargas Vasquez Vaughn Vega "
    "Wagner Walker Wallace Walsh Walters Ward Warren Washington Watanabe Watkins Watson Watts Weaver Webb Weber "
    "Webster Wells West Wheeler Whitaker White Wilcox Wilkins Williams Willis Wilson Winters Wolfe Wong Wood "
    "Woodward Wright Yamamoto Yates Yoder York Young Zhang Ziegler Zimmerman"
).split()

CITIES = (
    "Albany, Albuquerque, Amsterdam, Anchorage, Athens, Atlanta, Auckland, Austin, Baltimore, Bangkok, Barcelona, "
    "Beijing, Belfast, Berlin, Birmingham, Boise, Boston, Bristol, Brussels, Budapest, Buffalo, Cairo, Calgary, "
    "Cambridge, Cape Town, Charleston, Charlotte, Chicago, Cincinnati, Cleveland, Columbus, Copenhagen, Dallas, "
    "Dayton, Delhi, Denver, Detroit, Dubai, Dublin, Durham, Edinburgh, El Paso, Florence, Fort Worth, Frankfurt, "
    "Fresno, Geneva, Glasgow, Hamburg, Hanoi, Hartford, Havana, Helsinki, Hong Kong, Honolulu, Houston, "
    "Indianapolis, Istanbul, Jacksonville, Jakarta, Jerusalem, Kansas City, Knoxville, Kyoto, Lagos, Las Vegas, "
    "Leeds, Lima, Lisbon, Liverpool, London, Los Angeles, Louisville, Madison, Madrid, Manchester, Manila, "
    "Melbourne, Memphis, Mexico City, Miami, Milan, Milwaukee, Minneapolis, Montreal, Moscow, Mumbai, Munich, "
    "Nairobi, Naples, Nashville, New Orleans, New York, Newark, Norfolk, Oakland, Omaha, Orlando, Osaka, Oslo, "
    "Ottawa, Paris, Perth, Philadelphia, Phoenix, Pittsburgh, Portland, Prague, Quebec, Raleigh, Reno, Richmond, "
    "Rio de Janeiro, Rome, Sacramento, Salt Lake City, San Antonio, San Diego, San Francisco, San Jose, Santa Fe, "
    "Santiago, Savannah, Seattle, Seoul, Shanghai, Singapore, Spokane, Springfield, Stockholm, Sydney, Tacoma, "
    "Tampa, Tokyo, Toledo, Toronto, Tucson, Tulsa, Vancouver, Venice, Vienna, Warsaw, Washington, Wellington, "
    "Wichita, Winnipeg, Zurich"
).split(", ")

STREETS = (
    "Maple Oak Cedar Pine Elm Walnut Chestnut Birch Willow Main Church Mill Park Lake River Spring Hill Valley Meadow "
    "Garden Orchard Station Bridge Market Court Union Liberty Lincoln Jefferson Madison Franklin Jackson Adams Grant "
    "Washington Harbor Ocean Beach Bay Canyon Prairie Sunset Highland Forest Ridge Summit Fairview Central Railroad "
    "College School Prospect Pleasant Lexington Cambridge Victoria King Queen Prince Duke Windsor Kensington Baker"
).split()
STREET_KINDS = "Street Avenue Road Lane Drive Boulevard Court Place Way Terrace".split()

COMPANIES = (
    "Bluebird Harbor, Northwind, Silver Oak, Redwood, Clearwater, Summit, Pinnacle, Evergreen, Lighthouse, "
    "Cornerstone, Granite, Copper Kettle, Golden Gate, Maple Leaf, Blue Ridge, Falcon, Horizon, Meridian, Beacon, "
    "Keystone, Atlas, Orion, Phoenix, Sterling, Crescent, Riverside, Lakeside, Mountain View, Seaside, Sunrise"
).split(", ")
COMPANY_KINDS = (
    "Bank, Insurance, Airlines, Travel, Logistics, Dental, Pharmacy, Electric, Motors, Books, Software, Foods, "
    "Energy, Medical Center, Hotel, Clinic, Cable, Wireless, Furniture, Hardware, Bakery, Partners, Studios, "
    "Rentals"
).split(", ")
TITLES = "Doctor Professor Captain Mister Misses Miss Judge Senator".split()
