//! Each link in a Markdown page of this repository leads to a file that exists. If that is a page,
//! the fragment is one of its headings. Links to other hosts are not followed.
#![allow(clippy::unwrap_used, reason = "tests: helpers outside of #[test]")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// Folders that hold no pages of ours.
const SKIPPED: [&str; 4] = [".git", ".venv", "node_modules", "target"];

/// A page: the fragments that its headings have, and its links with their lines.
struct Page {
    fragments: BTreeSet<String>,
    links: Vec<(usize, String)>,
}

impl Page {
    fn parse(text: &str) -> Self {
        let mut page = Self {
            fragments: BTreeSet::new(),
            links: Vec::new(),
        };
        let mut heading = None;
        for (event, range) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
            match event {
                Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
                Event::End(TagEnd::Heading(_)) => {
                    let title = heading.take().unwrap_or_default();
                    page.add_heading(&title);
                }
                Event::Text(part) | Event::Code(part) => {
                    if let Some(title) = &mut heading {
                        title.push_str(&part);
                    }
                }
                Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                    let line = text[..range.start].lines().count().max(1);
                    page.links.push((line, dest_url.into_string()));
                }
                _ => {}
            }
        }
        page
    }

    /// Adds the fragment that GitHub gives a heading; a second one of the same name gets `-1`.
    fn add_heading(&mut self, title: &str) {
        let kept = title.chars().filter_map(|character| match character {
            ' ' => Some('-'),
            '-' | '_' => Some(character),
            _ => Some(character).filter(|character| character.is_alphanumeric()),
        });
        let fragment: String = kept.flat_map(char::to_lowercase).collect();
        let mut unique = fragment.clone();
        let mut count = 0;
        while !self.fragments.insert(unique) {
            count += 1;
            unique = format!("{fragment}-{count}");
        }
    }
}

fn pages_below(folder: &Path, pages: &mut BTreeMap<PathBuf, Page>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap_or_default();
        if path.is_dir() {
            if !SKIPPED.iter().any(|skipped| name == *skipped) {
                pages_below(&path, pages);
            }
        } else if path.extension().is_some_and(|extension| extension == "md") {
            let text = fs::read_to_string(&path).unwrap();
            pages.insert(path, Page::parse(&text));
        }
    }
}

/// What is wrong with a link, if anything.
fn mistake(page: &Path, link: &str, pages: &BTreeMap<PathBuf, Page>) -> Option<String> {
    if link.contains("://") || link.starts_with("mailto:") {
        return None;
    }
    let (file, fragment) = link.split_once('#').unwrap_or((link, ""));
    let target = match file {
        "" => page.to_path_buf(),
        file => page.parent()?.join(file),
    };
    let Ok(target) = target.canonicalize() else {
        return Some(format!("{file} does not exist"));
    };
    let known = |page: &Page| fragment.is_empty() || page.fragments.contains(fragment);
    if pages.get(&target).is_none_or(known) {
        return None;
    }
    Some(format!("{} has no heading #{fragment}", target.display()))
}

#[test]
fn every_link_has_a_target() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let root = root.canonicalize().unwrap();
    let mut pages = BTreeMap::new();
    pages_below(&root, &mut pages);
    assert!(pages.len() > 10, "found {} pages", pages.len());
    let mut mistakes = Vec::new();
    for (path, page) in &pages {
        for (line, link) in &page.links {
            if let Some(mistake) = mistake(path, link, &pages) {
                let path = path.strip_prefix(&root).unwrap();
                mistakes.push(format!("{}:{line}: {link}: {mistake}", path.display()));
            }
        }
    }
    assert!(mistakes.is_empty(), "{}", mistakes.join("\n"));
}

#[test]
fn fragments_are_those_of_github() {
    let page = Page::parse("# A `code`, twice\n\n## Next_one - 2\n\n# A code twice\n");
    let found: Vec<&str> = page.fragments.iter().map(String::as_str).collect();
    assert_eq!(found, ["a-code-twice", "a-code-twice-1", "next_one---2"]);
}
