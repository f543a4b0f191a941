//! `TABLE t`, which is short for `SELECT * FROM t` wherever a query may stand.

use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan};

use super::edits::Edits;

/// Words after which a query may begin.
const BEFORE: [&str; 6] = ["ALL", "AS", "DISTINCT", "EXCEPT", "INTERSECT", "UNION"];

/// Changes the tokens of a text.
pub(super) fn adapt(tokens: &mut Vec<TokenWithSpan>) {
    let mut edits = Edits::default();
    let mut begins = true;
    for (at, token) in tokens.iter().enumerate() {
        match &token.token {
            Token::Whitespace(_) => {}
            Token::SemiColon | Token::LParen => begins = true,
            Token::Word(word) if word.quote_style.is_none() => {
                let name = word.value.to_uppercase();
                if begins && name == "TABLE" {
                    let span = token.span;
                    let words = [
                        Token::make_word("SELECT", None),
                        Token::Mul,
                        Token::make_word("FROM", None),
                    ];
                    let words = words.map(|token| TokenWithSpan { token, span });
                    edits.put(at..at + 1, words);
                }
                begins = BEFORE.contains(&name.as_str());
            }
            _ => begins = false,
        }
    }
    edits.make(tokens);
}

#[cfg(test)]
mod tests {
    use crate::statement::parse_one;

    #[test]
    fn a_table_is_a_query() {
        for (written, read) in [
            ("table t", "SELECT * FROM t"),
            ("TABLE s.t ORDER BY 1", "SELECT * FROM s.t ORDER BY 1"),
            (
                "SELECT * FROM (TABLE t) AS u",
                "SELECT * FROM (SELECT * FROM t) AS u",
            ),
            (
                "SELECT 1 UNION ALL TABLE t",
                "SELECT 1 UNION ALL SELECT * FROM t",
            ),
            (
                "CREATE TABLE u AS TABLE t",
                "CREATE TABLE u AS SELECT * FROM t",
            ),
            ("SELECT \"table\" FROM t", "SELECT \"table\" FROM t"),
        ] {
            assert_eq!(parse_one(written).unwrap().to_string(), read, "{written}");
        }
        for written in ["DROP TABLE t", "TRUNCATE TABLE t", "CREATE TABLE t (k INT)"] {
            assert_eq!(parse_one(written).unwrap().to_string(), written);
        }
    }
}
