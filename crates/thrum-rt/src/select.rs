//! `select!`: waits for the first of some futures.
//!
//! The macro makes an enum with a variant for each branch, and polls the branches in two rounds: from a random one to the
//! last, then from the first to that one.

use std::future::IntoFuture;
use std::ops::Range;

use crate::random;

/// Waits for the first of some futures, drops the others, and then runs the body that belongs to it.
///
/// ```text
/// select! {
///     biased;                                    // optional
///     pattern = future => body,
///     pattern = future, if condition => body,
///     else => body,                              // optional
/// }
/// ```
///
/// It waits in the current task: nothing is spawned or allocated, and the futures may borrow. A body may use `.await`, `?`,
/// `break` and `return`. The comma after a body that is a block may be left out.
///
/// * All conditions are evaluated first, then all futures. A branch whose condition is false takes no part: its future is
///   dropped without being polled.
/// * A branch whose output does not match its pattern takes no further part.
/// * When no branch is left, `else` runs.
/// * When several are ready, one of them is chosen at random. After `biased;` it is the first in written order; then it is
///   up to you that a branch that is always ready does not shut out those below it.
///
/// There are at most 16 branches. Branches wait for each other's polls: one that computes holds up the others.
///
/// ```
/// use std::time::Duration;
/// use thrum_rt::{select, time::sleep};
///
/// # thrum_rt::block_on(async {
/// let mut ticks = thrum_rt::time::interval(Duration::from_millis(1));
/// let mut end = std::pin::pin!(sleep(Duration::from_millis(20)));
/// let mut count = 0;
/// loop {
///     select! {
///         () = ticks.tick(), if count < 3 => count += 1,
///         () = &mut end => break,
///     }
/// }
/// assert_eq!(count, 3);
/// # });
/// ```
///
/// # Cancel safety
/// The futures that lose are dropped. What that means for each is said where it is documented; to go on with one later,
/// give the macro a reference to it, as with `end` above.
///
/// # Panics
/// When no branch is left and there is no `else`.
#[macro_export]
macro_rules! select {
    (biased; $($branches:tt)+) => {
        $crate::__select!(@branch in_order [] [a b c d e f g h i j k l m n o p] $($branches)+)
    };
    ($($branches:tt)+) => {
        $crate::__select!(@branch at_random [] [a b c d e f g h i j k l m n o p] $($branches)+)
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __select {
    // The next branch: `else`, none, one with a condition, one without.
    (@branch $start:ident $done:tt $names:tt else => $otherwise:expr $(,)?) => {
        $crate::__select!(@run $start $done ($otherwise))
    };
    (@branch $start:ident $done:tt $names:tt) => {
        $crate::__select!(@run $start $done ($crate::__private::no_branch_left()))
    };
    (@branch $start:ident $done:tt $names:tt
        $pattern:pat = $future:expr, if $condition:expr => $($rest:tt)+) => {
        $crate::__select!(@body $start $done $names [($pattern) ($future) ($condition)] $($rest)+)
    };
    (@branch $start:ident $done:tt $names:tt $pattern:pat = $future:expr => $($rest:tt)+) => {
        $crate::__select!(@body $start $done $names [($pattern) ($future) (true)] $($rest)+)
    };

    // Its body. The branch gets a name.
    (@body $start:ident $done:tt [] $branch:tt $($rest:tt)*) => {
        ::core::compile_error!("`select!` has at most 16 branches")
    };
    (@body $start:ident [$($done:tt)*] [$name:ident $($names:ident)*] [$($branch:tt)*]
        $body:block, $($rest:tt)*) => {
        $crate::__select!(@branch $start [$($done)* [$name $($branch)* ($body)]] [$($names)*] $($rest)*)
    };
    (@body $start:ident [$($done:tt)*] [$name:ident $($names:ident)*] [$($branch:tt)*]
        $body:block $($rest:tt)*) => {
        $crate::__select!(@branch $start [$($done)* [$name $($branch)* ($body)]] [$($names)*] $($rest)*)
    };
    (@body $start:ident [$($done:tt)*] [$name:ident $($names:ident)*] [$($branch:tt)*]
        $body:expr $(, $($rest:tt)*)?) => {
        $crate::__select!(@branch $start [$($done)* [$name $($branch)* ($body)]] [$($names)*] $($($rest)*)?)
    };

    (@run $start:ident [$([
        $name:ident ($pattern:pat) ($future:expr) ($condition:expr) ($body:expr)
    ])+] ($otherwise:expr)) => {{
        #[allow(non_camel_case_types)]
        enum __Selected<$($name),+> {
            $($name($name),)+
            __None,
        }
        let conditions = [$($condition),+];
        let branches = conditions.len();
        let [$($name),+] = conditions;
        // A `match`, so that what the futures borrow lives as long as they do.
        let selected = match ($($crate::__private::branch($name, $future),)+) {
            ($($name,)+) => {
                $(let mut $name = ::core::pin::pin!($name);)+
                $crate::__private::poll_fn(|cx| {
                    let start = $crate::__private::$start(branches);
                    let mut waiting = false;
                    for round in [start..branches, 0..start] {
                        let mut is_due = $crate::__private::turns(round);
                        $(
                            if is_due() && let Some(future) = $name.as_mut().as_pin_mut() {
                                match $crate::__private::Future::poll(future, cx) {
                                    $crate::__private::Poll::Pending => waiting = true,
                                    $crate::__private::Poll::Ready(output) => {
                                        $name.set(None);
                                        // The guard runs if the pattern matches, and moves nothing.
                                        let mut matches = false;
                                        #[allow(unused)]
                                        match output {
                                            $pattern if { matches = true; false } => unreachable!(),
                                            _ => {}
                                        }
                                        if matches {
                                            return $crate::__private::Poll::Ready(
                                                __Selected::$name(output),
                                            );
                                        }
                                    }
                                }
                            }
                        )+
                    }
                    if waiting {
                        $crate::__private::Poll::Pending
                    } else {
                        $crate::__private::Poll::Ready(__Selected::__None)
                    }
                })
                .await
            }
        };
        match selected {
            $(
                __Selected::$name(output) => match output {
                    $pattern => $body,
                    #[allow(unreachable_patterns)]
                    _ => ::core::unreachable!("it has matched before"),
                },
            )+
            __Selected::__None => $otherwise,
        }
    }};
}

/// A branch's future, unless its condition is false.
pub fn branch<F: IntoFuture>(condition: bool, future: F) -> Option<F::IntoFuture> {
    condition.then(|| future.into_future())
}

/// Says for one branch after the other whether it is polled in this round.
pub fn turns(round: Range<usize>) -> impl FnMut() -> bool {
    let mut branches = 0..;
    move || {
        branches
            .next()
            .is_some_and(|branch| round.contains(&branch))
    }
}

/// Where a biased `select!` begins.
pub fn in_order(_branches: usize) -> usize {
    0
}

/// Where a fair `select!` begins.
pub fn at_random(branches: usize) -> usize {
    random::below(branches)
}

/// What a `select!` without `else` does when no branch is left.
#[track_caller]
pub fn no_branch_left() -> ! {
    panic!("no branch of this `select!` is left to wait for, and it has no `else`")
}
