//! Blocking code from asynchronous code, so that both are one source.
//!
//! A module is written with `async` and `.await`, and its items carry the attribute `#[twin]`. It is included twice: below a
//! module that has `use diffgp_twin::blocking as twin`, and below one that has `use diffgp_twin::asynchronous as twin`.
//!
//! ```
//! # mod blocking {
//! use diffgp_twin::blocking as twin;
//!
//! #[twin]
//! pub async fn twice(mut read: impl FnMut() -> Option<u32>) -> Option<u32> {
//!     async fn once(word: Option<u32>) -> Option<u32> {
//!         word
//!     }
//!     Some(once(read()).await? + once(read()).await?)
//! }
//! # }
//! // No future: it is done when it returns.
//! assert_eq!(blocking::twice(|| Some(4)), Some(8));
//! ```
#![forbid(unsafe_code)]

use proc_macro::{Group, TokenStream, TokenTree};

/// The item without `async` and `.await`.
#[proc_macro_attribute]
pub fn blocking(_: TokenStream, item: TokenStream) -> TokenStream {
    without_waiting(item)
}

/// The item as it is.
#[proc_macro_attribute]
pub fn asynchronous(_: TokenStream, item: TokenStream) -> TokenStream {
    item
}

fn without_waiting(tokens: TokenStream) -> TokenStream {
    let mut left = Vec::new();
    for token in tokens {
        match token {
            // The dot before it goes too.
            TokenTree::Ident(word) if word.to_string() == "await" => drop(left.pop()),
            TokenTree::Ident(word) if word.to_string() == "async" => {}
            TokenTree::Group(group) => {
                let mut inner = Group::new(group.delimiter(), without_waiting(group.stream()));
                inner.set_span(group.span());
                left.push(inner.into());
            }
            other => left.push(other),
        }
    }
    left.into_iter().collect()
}
