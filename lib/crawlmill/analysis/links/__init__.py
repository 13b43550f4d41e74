"""Links between pages and hosts: what pages, WAT records and robots.txt files refer to."""
