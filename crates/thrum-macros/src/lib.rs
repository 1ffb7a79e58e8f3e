//! The attribute macro of [`thrum`](https://docs.rs/thrum). It is used as `#[thrum::main]`.

use proc_macro::{Delimiter, Group, Ident, Punct, Spacing, Span, TokenStream, TokenTree};

/// Makes an `async fn main` the main function: its body runs inside `thrum::block_on`, on a runtime that writes what every
/// task is doing to standard error when the process gets SIGUSR1.
///
/// ```ignore
/// #[thrum::main]
/// async fn main() -> std::io::Result<()> {
///     let listener = thrum::net::TcpListener::bind("127.0.0.1:8080").await?;
///     // ...
///     Ok(())
/// }
/// ```
#[proc_macro_attribute]
pub fn main(arguments: TokenStream, function: TokenStream) -> TokenStream {
    if let Some(argument) = arguments.into_iter().next() {
        return error(
            argument.span(),
            "`#[thrum::main]` takes no arguments; the environment's THRUM_WORKERS sets the number of workers",
        );
    }
    let mut tokens: Vec<TokenTree> = function.into_iter().collect();
    let is = |token: &TokenTree, word: &str| matches!(token, TokenTree::Ident(ident) if ident.to_string() == word);
    let Some(keyword) = tokens.iter().position(|token| is(token, "async")) else {
        let span = tokens.first().map_or_else(Span::call_site, TokenTree::span);
        return error(span, "`#[thrum::main]` belongs on an `async fn`");
    };
    match tokens.pop() {
        Some(TokenTree::Group(body)) if body.delimiter() == Delimiter::Brace => {
            tokens.remove(keyword);
            tokens.push(block(run(body)));
            tokens.into_iter().collect()
        }
        _ => error(
            Span::call_site(),
            "`#[thrum::main]` belongs on a function with a body",
        ),
    }
}

/// `::thrum::run_main(async move { body })`
fn run(body: Group) -> TokenStream {
    let future = TokenStream::from_iter([ident("async"), ident("move"), body.into()]);
    let mut call = path(&["thrum", "run_main"]);
    call.extend([TokenTree::Group(Group::new(Delimiter::Parenthesis, future))]);
    call
}

fn block(inner: TokenStream) -> TokenTree {
    Group::new(Delimiter::Brace, inner).into()
}

/// `::one::two`
fn path(segments: &[&str]) -> TokenStream {
    let colons = || {
        [
            Punct::new(':', Spacing::Joint).into(),
            Punct::new(':', Spacing::Alone).into(),
        ]
    };
    segments
        .iter()
        .flat_map(|segment| colons().into_iter().chain([ident(segment)]))
        .collect()
}

fn ident(name: &str) -> TokenTree {
    Ident::new(name, Span::call_site()).into()
}

/// `::core::compile_error! { "message" }`, at the place of the mistake.
fn error(span: Span, message: &str) -> TokenStream {
    let text = TokenTree::Literal(proc_macro::Literal::string(message));
    let mut call = path(&["core", "compile_error"]);
    call.extend([
        TokenTree::from(Punct::new('!', Spacing::Alone)),
        block(text.into()),
    ]);
    call.into_iter()
        .map(|mut token| {
            token.set_span(span);
            token
        })
        .collect()
}
