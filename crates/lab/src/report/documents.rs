//! The documents that experiments are from.

/// A document.
pub struct Document {
    /// The letter that names it.
    pub letter: &'static str,
    /// Its title.
    pub title: &'static str,
    /// Who wrote it, and when.
    pub by: &'static str,
}

const DOCUMENTS: [Document; 5] = [
    Document {
        letter: "H",
        title: "Performance Tradeoffs in Read-Optimized Databases",
        by: "Harizopoulos, Liang, Abadi and Madden, VLDB 2006",
    },
    Document {
        letter: "C",
        title: "The Column-oriented Data Store Performance Considerations",
        by: "Nowosielski, Kowalski and Kulczycki",
    },
    Document {
        letter: "Q",
        title: "Design and Evaluation of Storage Organizations for Read-Optimized Main Memory Databases",
        by: "Chasseur and Patel, VLDB 2013",
    },
    Document {
        letter: "P",
        title: "Data Page Layouts for Relational Databases on Deep Memory Hierarchies",
        by: "Ailamaki, DeWitt and Hill",
    },
    Document {
        letter: "M",
        title: "MonetDB beside cstore_fdw and PostgreSQL",
        by: "the MonetDB team",
    },
];

/// The letter of an experiment's source, as `H` of `H, figure 6`.
pub fn letter(source: &str) -> &str {
    source.split(',').next().unwrap_or(source).trim()
}

/// The document of that letter.
pub fn find(letter: &str) -> Option<&'static Document> {
    DOCUMENTS.iter().find(|document| document.letter == letter)
}
