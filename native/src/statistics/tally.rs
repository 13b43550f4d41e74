//! Counts of distinct things in sorted lines: the twin of `crawlmill.analysis.statistics.tally`.
//!
//! What is held is of one URL, one host and one domain at a time, and sums, which are let go of when they are many.

use hashbrown::HashMap;

use crate::sort::sums::write_number;

/// Sums that are held.
const MAX_KEYS: usize = 200_000;

/// What the numbers of a vector count.
const PLACES: [&[u8]; 4] = [b"page", b"url", b"host", b"domain"];

/// The metrics of what a capture says: its types, its charset and its languages.
const BY_CAPTURE: [&[u8]; 5] = [b"mimetype", b"mimetype_detected", b"charset", b"languages", b"primary_language"];

/// As many numbers as a metric has, from the first place on.
#[derive(Clone, Copy)]
struct Vector {
    numbers: [u64; 4],
    length: u8,
}

impl Vector {
    fn new(some: &[u64]) -> Vector {
        let mut numbers = [0; 4];
        numbers[..some.len()].copy_from_slice(some);
        Vector { numbers, length: some.len() as u8 }
    }

    fn add(&mut self, other: &Vector) {
        for (sum, number) in self.numbers.iter_mut().zip(other.numbers) {
            *sum += number;
        }
    }

    fn numbers(&self) -> &[u64] {
        &self.numbers[..usize::from(self.length)]
    }

    /// Without equal numbers at the end.
    fn trimmed(&self) -> &[u64] {
        let mut numbers = self.numbers();
        while let [.., a, b] = numbers {
            if a != b {
                break;
            }
            numbers = &numbers[..numbers.len() - 1];
        }
        numbers
    }
}

/// Writes a list of numbers; one alone is none.
fn write_numbers(numbers: &[u64], out: &mut Vec<u8>) {
    if let [number] = numbers {
        return write_number((*number).into(), out);
    }
    for (at, number) in numbers.iter().enumerate() {
        out.push(if at == 0 { b'[' } else { b',' });
        write_number((*number).into(), out);
    }
    out.push(b']');
}

/// Vectors by the JSON of their key.
#[derive(Default)]
struct Sums {
    sums: HashMap<Box<[u8]>, Vector>,
    key: Vec<u8>,
}

impl Sums {
    fn add(&mut self, numbers: &[u64]) {
        let vector = Vector::new(numbers);
        if let Some(sum) = self.sums.get_mut(self.key.as_slice()) {
            sum.add(&vector);
        } else {
            self.sums.insert(self.key.as_slice().into(), vector);
        }
    }

    /// `["metric","item","crawl"]`
    fn add_item(&mut self, metric: &[u8], item: &[u8], crawl: &[u8], numbers: &[u64]) {
        write_key(metric, item, crawl, &mut self.key);
        self.add(numbers);
    }

    fn add_size(&mut self, what: &[u8], crawl: &[u8], number: u64) {
        self.add_item(b"size", what, crawl, &[number]);
    }

    /// `["histogram","metric","crawl","place",number]`
    fn add_to_histogram(&mut self, metric: &[u8], place: &[u8], crawl: &[u8], number: u64) {
        self.key.clear();
        for piece in [b"[\"histogram\",\"", metric, b"\",\"", crawl, b"\",\"", place, b"\","] {
            self.key.extend_from_slice(piece);
        }
        write_number(number.into(), &mut self.key);
        self.key.push(b']');
        self.add(&[1]);
    }

    fn drain(&mut self, out: &mut Vec<u8>) {
        for (key, vector) in self.sums.drain() {
            out.extend_from_slice(&key);
            out.push(b'\t');
            write_numbers(vector.numbers(), out);
            out.push(b'\n');
        }
    }
}

fn write_key(metric: &[u8], item: &[u8], crawl: &[u8], key: &mut Vec<u8>) {
    key.clear();
    for piece in [b"[\"", metric, b"\",\"", item, b"\",\"", crawl, b"\"]"] {
        key.extend_from_slice(piece);
    }
}

/// Vectors by crawl: of few crawls, in any order.
#[derive(Default)]
struct ByCrawl(Vec<(Vec<u8>, Vector)>);

impl ByCrawl {
    fn add(&mut self, crawl: &[u8], numbers: &[u64]) {
        let vector = Vector::new(numbers);
        match self.0.iter_mut().find(|(name, _)| name == crawl) {
            Some((_, sum)) => sum.add(&vector),
            None => self.0.push((crawl.to_vec(), vector)),
        }
    }

    fn take(&mut self) -> Vec<(Vec<u8>, Vector)> {
        std::mem::take(&mut self.0)
    }
}

/// Captures of one URL that are equal in all that is counted.
struct Captures {
    crawl: Vec<u8>,
    facets: Vec<u8>,
    number: u64,
}

/// Takes sorted lines and gives lines of pairs.
#[derive(Default)]
pub struct SortedPages {
    exact: bool,
    sums: Sums,
    /// Pages and URLs by crawl and what a capture says, of URLs of which all captures say the same.
    alike: HashMap<Box<[u8]>, [u64; 2]>,
    out: Vec<u8>,
    kind: u8,
    domain: Vec<u8>,
    host: Vec<u8>,
    url: Vec<u8>,
    tld: Vec<u8>,
    of_url: Vec<Captures>,
    of_host: ByCrawl,
    /// Of a host, by crawl NUL SURT domain.
    of_surt: HashMap<Box<[u8]>, [u64; 2]>,
    of_domain: ByCrawl,
    digest: Vec<u8>,
    of_digest: ByCrawl,
    key: Vec<u8>,
}

impl SortedPages {
    /// `exact`: whether URLs are counted by their captures, and those that are new in a crawl.
    pub fn new(exact: bool) -> SortedPages {
        SortedPages { exact, ..SortedPages::default() }
    }

    /// Take more whole lines; gives some pairs. None if one of them is no line of pages.
    pub fn add(&mut self, text: &[u8]) -> Option<Vec<u8>> {
        let mut start = 0;
        for end in memchr::memchr_iter(b'\n', text).chain([text.len()]) {
            self.line(text.get(start..end).unwrap_or_default())?;
            start = end + 1;
        }
        if self.sums.sums.len() + self.alike.len() > MAX_KEYS {
            self.drain();
        }
        Some(std::mem::take(&mut self.out))
    }

    /// The rest.
    pub fn finish(&mut self) -> Option<Vec<u8>> {
        self.end_domain()?;
        self.end_digest();
        self.drain();
        Some(std::mem::take(&mut self.out))
    }

    fn line(&mut self, line: &[u8]) -> Option<()> {
        let Some((&kind, text)) = memchr::memchr(b'\t', line).and_then(|tab| line[tab + 1..].split_first()) else {
            return Some(());
        };
        match kind {
            b'p' | b'r' => self.take(kind, text)?,
            b'd' => {
                let (digest, crawl) = cut(text)?;
                if digest != self.digest {
                    self.end_digest();
                    self.digest.clear();
                    self.digest.extend_from_slice(digest);
                }
                self.of_digest.add(crawl, &[1]);
            }
            b'c' => {
                self.out.extend_from_slice(text);
                self.out.push(b'\n');
            }
            _ => {}
        }
        Some(())
    }

    fn take(&mut self, kind: u8, text: &[u8]) -> Option<()> {
        let (domain, rest) = cut(text)?;
        let (host, rest) = cut(rest)?;
        let (url, rest) = cut(rest)?;
        let (crawl, facets) = cut(rest)?;
        if domain != self.domain {
            self.end_domain()?;
            replace(&mut self.domain, domain);
            replace(&mut self.host, host);
        } else if host != self.host {
            self.end_host()?;
            replace(&mut self.host, host);
        } else if url != self.url || kind != self.kind {
            self.end_url()?;
        }
        self.kind = kind;
        replace(&mut self.url, url);
        // Lines are sorted, so that equal ones stand together.
        match self.of_url.last_mut() {
            Some(last) if last.crawl == crawl && last.facets == facets => last.number += 1,
            _ => self.of_url.push(Captures { crawl: crawl.to_vec(), facets: facets.to_vec(), number: 1 }),
        }
        Some(())
    }

    fn end_url(&mut self) -> Option<()> {
        let found = std::mem::take(&mut self.of_url);
        for captures in found.chunk_by(|a, b| a.crawl == b.crawl) {
            if self.kind == b'r' {
                self.end_robots(captures);
            } else {
                self.end_page(captures)?;
            }
        }
        if self.exact && self.kind == b'p' {
            if let Some(first) = found.first() {
                self.sums.add_item(b"new_items", b"url", &first.crawl, &[1]);
            }
        }
        Some(())
    }

    fn end_robots(&mut self, captures: &[Captures]) {
        let crawl = &captures[0].crawl;
        for each in captures {
            let key = &mut self.sums.key;
            key.clear();
            for piece in [b"[\"robotstxt_status\",", each.facets.as_slice(), b",\"", crawl, b"\"]"] {
                key.extend_from_slice(piece);
            }
            self.sums.add(&[each.number, 1]);
        }
        let pages = captures.iter().map(|each| each.number).sum();
        self.sums.add_item(b"size_robotstxt", b"page", crawl, &[pages]);
        self.sums.add_item(b"size_robotstxt", b"url", crawl, &[1]);
    }

    fn end_page(&mut self, captures: &[Captures]) -> Option<()> {
        let crawl = &captures[0].crawl;
        let pages = captures.iter().map(|each| each.number).sum();
        let mut surts: Vec<(&[u8], u64)> = Vec::new();
        for each in captures {
            let (surt, _) = cut(&each.facets)?;
            match surts.last_mut() {
                Some(last) if last.0 == surt => last.1 += each.number,
                _ => surts.push((surt, each.number)),
            }
        }
        for (surt, number) in surts {
            self.key.clear();
            for piece in [crawl, &b"\0"[..], surt] {
                self.key.extend_from_slice(piece);
            }
            add_two(&mut self.of_surt, &self.key, number, 1);
        }
        let (_, said) = cut(&captures[captures.len() - 1].facets)?;
        let (tld, said) = cut(said)?;
        replace(&mut self.tld, tld);
        if captures.len() == 1 {
            self.key.clear();
            for piece in [crawl, &b"\0"[..], said] {
                self.key.extend_from_slice(piece);
            }
            add_two(&mut self.alike, &self.key, pages, 1);
        } else {
            let (scheme, _) = cut(said)?;
            self.sums.add_item(b"scheme", scheme, crawl, &[pages, 1]);
            let mut counted: HashMap<(&[u8], &[u8]), u64> = HashMap::new();
            for each in captures {
                let (_, _, said) =
                    cut(&each.facets).and_then(|(surt, rest)| cut(rest).map(|(tld, rest)| (surt, tld, rest)))?;
                for (metric, item) in items_of(said) {
                    *counted.entry((metric, item)).or_default() += each.number;
                }
            }
            for ((metric, item), number) in counted {
                self.sums.add_item(metric, item, crawl, &[number, 1]);
            }
        }
        self.sums.add_size(b"url", crawl, 1);
        if self.exact {
            self.sums.add_to_histogram(b"url", b"page", crawl, pages);
        }
        self.of_host.add(crawl, &[pages, 1]);
        if self.host.is_empty() {
            self.end_surts(0); // there may be any number of them, and no hosts to be counted
        }
        Some(())
    }

    fn end_surts(&mut self, hosts: u64) {
        for (key, [pages, urls]) in self.of_surt.drain() {
            if let Some((crawl, surt)) = cut(&key) {
                self.sums.add_item(b"surt_domain", surt, crawl, &[pages, urls, hosts]);
            }
        }
    }

    fn end_host(&mut self) -> Option<()> {
        self.end_url()?;
        self.end_surts(1);
        let found = self.of_host.take();
        if self.host.is_empty() {
            return Some(());
        }
        for (crawl, vector) in found {
            self.result(b"host", &crawl, &vector);
            let [pages, urls, ..] = vector.numbers;
            self.of_domain.add(&crawl, &[pages, urls, 1]);
        }
        Some(())
    }

    fn end_domain(&mut self) -> Option<()> {
        self.end_host()?;
        for (crawl, vector) in self.of_domain.take() {
            self.result(b"domain", &crawl, &vector);
            let [pages, urls, hosts, _] = vector.numbers;
            self.sums.add_item(b"tld", &self.tld, &crawl, &[pages, urls, hosts, 1]);
        }
        Some(())
    }

    /// The line of a host or domain, and what it adds to sizes and histograms.
    fn result(&mut self, metric: &[u8], crawl: &[u8], vector: &Vector) {
        let item = if metric == b"host" { &self.host } else { &self.domain };
        write_key(metric, item, crawl, &mut self.key);
        self.out.extend_from_slice(&self.key);
        self.out.push(b'\t');
        write_numbers(vector.trimmed(), &mut self.out);
        self.out.push(b'\n');
        self.sums.add_size(metric, crawl, 1);
        for (place, &number) in PLACES.iter().zip(vector.numbers()) {
            self.sums.add_to_histogram(metric, place, crawl, number);
        }
    }

    fn end_digest(&mut self) {
        let found = self.of_digest.take();
        for (crawl, vector) in &found {
            self.sums.add_size(b"digest", crawl, 1);
            self.sums.add_to_histogram(b"digest", b"page", crawl, vector.numbers[0]);
        }
        if let Some((first, _)) = found.first() {
            self.sums.add_item(b"new_items", b"digest", first, &[1]);
        }
    }

    fn drain(&mut self) {
        for (key, numbers) in self.alike.drain() {
            let Some((crawl, said)) = cut(&key) else {
                continue;
            };
            if let Some((scheme, _)) = cut(said) {
                self.sums.add_item(b"scheme", scheme, crawl, &numbers);
            }
            for (metric, item) in items_of(said) {
                self.sums.add_item(metric, item, crawl, &numbers);
            }
        }
        self.sums.drain(&mut self.out);
    }
}

/// The items under which a capture counts, by what it says: scheme, types, charset and languages.
fn items_of(said: &[u8]) -> impl Iterator<Item = (&'static [u8], &[u8])> {
    let items = said.split(|&byte| byte == 0).skip(1);
    let languages = said.rsplit(|&byte| byte == 0).next().unwrap_or_default();
    let primary = languages.split(|&byte| byte == b',').next().unwrap_or_default();
    let primary = (!languages.is_empty()).then_some((BY_CAPTURE[4], primary));
    BY_CAPTURE.into_iter().zip(items).filter(|(_, item)| !item.is_empty()).chain(primary)
}

/// What stands before the first NUL, and behind it.
fn cut(text: &[u8]) -> Option<(&[u8], &[u8])> {
    memchr::memchr(0, text).map(|at| (&text[..at], &text[at + 1..]))
}

fn replace(text: &mut Vec<u8>, by: &[u8]) {
    if text != by {
        text.clear();
        text.extend_from_slice(by);
    }
}

fn add_two(sums: &mut HashMap<Box<[u8]>, [u64; 2]>, key: &[u8], first: u64, second: u64) {
    if let Some(sum) = sums.get_mut(key) {
        sum[0] += first;
        sum[1] += second;
    } else {
        sums.insert(key.into(), [first, second]);
    }
}

#[cfg(test)]
mod tests {
    use super::SortedPages;

    fn counted(exact: bool, lines: &[&str]) -> Vec<String> {
        let mut pages = SortedPages::new(exact);
        let mut text = lines.iter().map(|line| format!("{line}\n")).collect::<Vec<_>>();
        text.sort();
        let mut out: Vec<u8> = text.iter().flat_map(|line| pages.add(line.as_bytes()).unwrap()).collect();
        out.extend(pages.finish().unwrap());
        let mut found: Vec<String> = String::from_utf8(out).unwrap().lines().map(String::from).collect();
        found.sort();
        found
    }

    #[test]
    fn distinct_things_are_counted() {
        let found = counted(
            true,
            &[
                "7\tpe.org\0e.org\0A\0C\0org,e\0org\0http\0t/h\0\0\0eng,deu",
                "7\tpe.org\0e.org\0A\0C\0org,e\0org\0http\0t/h\0\0\0eng,deu",
                "7\tpe.org\0www.e.org\0B\0C\0org,e\0org\0https\0t/h\0d\0u\0",
                "7\tdX\0C",
                "0\tc[\"size\",\"page\",\"C\"]\t3",
            ],
        );
        let expected = [
            "[\"charset\",\"u\",\"C\"]\t[1,1]",
            "[\"domain\",\"e.org\",\"C\"]\t[3,2]",
            "[\"histogram\",\"digest\",\"C\",\"page\",1]\t1",
            "[\"histogram\",\"domain\",\"C\",\"host\",2]\t1",
            "[\"histogram\",\"domain\",\"C\",\"page\",3]\t1",
            "[\"histogram\",\"domain\",\"C\",\"url\",2]\t1",
            "[\"histogram\",\"host\",\"C\",\"page\",1]\t1",
            "[\"histogram\",\"host\",\"C\",\"page\",2]\t1",
            "[\"histogram\",\"host\",\"C\",\"url\",1]\t2",
            "[\"histogram\",\"url\",\"C\",\"page\",1]\t1",
            "[\"histogram\",\"url\",\"C\",\"page\",2]\t1",
            "[\"host\",\"e.org\",\"C\"]\t[2,1]",
            "[\"host\",\"www.e.org\",\"C\"]\t1",
            "[\"languages\",\"eng,deu\",\"C\"]\t[2,1]",
            "[\"mimetype\",\"t/h\",\"C\"]\t[3,2]",
            "[\"mimetype_detected\",\"d\",\"C\"]\t[1,1]",
            "[\"new_items\",\"digest\",\"C\"]\t1",
            "[\"new_items\",\"url\",\"C\"]\t2",
            "[\"primary_language\",\"eng\",\"C\"]\t[2,1]",
            "[\"scheme\",\"http\",\"C\"]\t[2,1]",
            "[\"scheme\",\"https\",\"C\"]\t[1,1]",
            "[\"size\",\"digest\",\"C\"]\t1",
            "[\"size\",\"domain\",\"C\"]\t1",
            "[\"size\",\"host\",\"C\"]\t2",
            "[\"size\",\"page\",\"C\"]\t3",
            "[\"size\",\"url\",\"C\"]\t2",
            "[\"surt_domain\",\"org,e\",\"C\"]\t[3,2,2]",
            "[\"tld\",\"org\",\"C\"]\t[3,2,2,1]",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_url_counts_once_under_each_item() {
        let found = counted(
            false,
            &[
                "7\tpe.org\0e.org\0A\0C\0org,e\0org\0http\0a\0\0\0",
                "7\tpe.org\0e.org\0A\0C\0org,e\0org\0http\0b\0\0\0",
                "7\tpe.org\0e.org\0A\0D\0org,e\0org\0http\0b\0\0\0",
                "7\tre.org\0e.org\0A\0C\x00404",
            ],
        );
        for line in [
            "[\"mimetype\",\"a\",\"C\"]\t[1,1]",
            "[\"mimetype\",\"b\",\"C\"]\t[1,1]",
            "[\"mimetype\",\"b\",\"D\"]\t[1,1]",
            "[\"scheme\",\"http\",\"C\"]\t[2,1]",
            "[\"host\",\"e.org\",\"C\"]\t[2,1]",
            "[\"robotstxt_status\",404,\"C\"]\t[1,1]",
            "[\"size_robotstxt\",\"url\",\"C\"]\t1",
        ] {
            assert!(found.iter().any(|each| each == line), "{line}: {found:#?}");
        }
        assert!(!found.iter().any(|each| each.contains("new_items") || each.contains("digest")));
    }

    #[test]
    fn what_is_no_line_of_pages_is_refused() {
        for odd in ["7\tpe.org\0e.org\n", "7\tdX\n"] {
            assert_eq!(SortedPages::new(true).add(odd.as_bytes()), None, "{odd}");
        }
    }
}
