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
    with_body("#[thrum::main]", function, |body| {
        call(&["thrum", "run_main"], async_block(body))
    })
}

/// Makes an `async fn` a test: its body runs inside `thrum::test::run`, where time jumps while all tasks wait, and a seed
/// decides which task runs next. With `seeds = N` it runs N times, with as many seeds.
///
/// ```ignore
/// #[thrum::test(seeds = 100)]
/// async fn an_hour_takes_no_time() {
///     thrum::time::sleep(Duration::from_secs(3600)).await;
/// }
/// ```
#[proc_macro_attribute]
pub fn test(arguments: TokenStream, function: TokenStream) -> TokenStream {
    let arguments: Vec<TokenTree> = arguments.into_iter().collect();
    let seeds = match &arguments[..] {
        [] => None,
        [name, TokenTree::Punct(equals), TokenTree::Literal(seeds)]
            if name.to_string() == "seeds" && equals.as_char() == '=' =>
        {
            Some(seeds.clone())
        }
        [first, ..] => {
            return error(
                first.span(),
                "`#[thrum::test]` takes `seeds = N` or nothing",
            );
        }
    };
    let tested = with_body("#[thrum::test]", function, |body| match seeds {
        None => call(&["thrum", "test", "run"], async_block(body)),
        Some(seeds) => {
            let mut arguments = TokenStream::from_iter([
                TokenTree::from(seeds),
                Punct::new(',', Spacing::Alone).into(),
                Punct::new('|', Spacing::Alone).into(),
                Punct::new('|', Spacing::Alone).into(),
            ]);
            arguments.extend(async_block(body));
            call(&["thrum", "test", "run_seeds"], arguments)
        }
    });
    let mut attribute = TokenStream::from_iter([TokenTree::from(Punct::new('#', Spacing::Alone))]);
    let path = path(&["core", "prelude", "v1", "test"]);
    attribute.extend([TokenTree::from(Group::new(Delimiter::Bracket, path))]);
    attribute.extend(tested);
    attribute
}

/// An `async fn` as a plain one, with a body made of its own.
fn with_body(
    attribute: &str,
    function: TokenStream,
    make: impl FnOnce(Group) -> TokenStream,
) -> TokenStream {
    let mut tokens: Vec<TokenTree> = function.into_iter().collect();
    let is = |token: &TokenTree, word: &str| matches!(token, TokenTree::Ident(ident) if ident.to_string() == word);
    let Some(keyword) = tokens.iter().position(|token| is(token, "async")) else {
        let span = tokens.first().map_or_else(Span::call_site, TokenTree::span);
        return error(span, &format!("`{attribute}` belongs on an `async fn`"));
    };
    match tokens.pop() {
        Some(TokenTree::Group(body)) if body.delimiter() == Delimiter::Brace => {
            tokens.remove(keyword);
            tokens.push(block(make(body)));
            tokens.into_iter().collect()
        }
        _ => error(
            Span::call_site(),
            &format!("`{attribute}` belongs on a function with a body"),
        ),
    }
}

/// `async move { body }`
fn async_block(body: Group) -> TokenStream {
    TokenStream::from_iter([ident("async"), ident("move"), body.into()])
}

/// `::one::two(arguments)`
fn call(function: &[&str], arguments: TokenStream) -> TokenStream {
    let mut call = path(function);
    call.extend([TokenTree::Group(Group::new(
        Delimiter::Parenthesis,
        arguments,
    ))]);
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
