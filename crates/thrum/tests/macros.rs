//! The runtime's macros work by their names in the facade.

thrum::task_local! {
    static NUMBER: u32;
}

#[test]
fn macros_expand_without_the_runtime_in_scope() {
    let sum = thrum::block_on(async {
        let (one, two) = thrum::join!(async { 1 }, async { 2 });
        let both = thrum::try_join!(async { Ok::<_, ()>(one) }, async { Ok(two) });
        thrum::select! {
            Ok((one, two)) = async { both } => NUMBER.scope(one + two, async { NUMBER.get() }).await,
            else => 0,
        }
    });
    assert_eq!(sum, 3);
}
