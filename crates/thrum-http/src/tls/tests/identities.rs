use super::*;
use crate::tls::Problem;

fn problem(chain: &str, key: &str) -> Problem {
    let error = Identity::from_pem(chain.as_bytes(), key.as_bytes()).unwrap_err();
    match error.problem() {
        Problem::Expired(date) => Problem::Expired(date.clone()),
        Problem::NoCertificate => Problem::NoCertificate,
        Problem::NoKey => Problem::NoKey,
        Problem::EncryptedKey => Problem::EncryptedKey,
        Problem::OtherKey => Problem::OtherKey,
        Problem::BadPem(text) => Problem::BadPem(text.clone()),
        Problem::BadCertificate(text) => Problem::BadCertificate(text.clone()),
        Problem::BadKey(text) => Problem::BadKey(text.clone()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_is_wrong_is_said() {
    let authority = Authority::new();
    let (chain, key) = authority.pem(&["a.test"]);
    let (other, _) = authority.pem(&["a.test"]);
    let encrypted =
        "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n";
    let old = "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\nAAAA\n-----END RSA PRIVATE KEY-----\n";
    let garbage = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n";
    let cut = &chain[..chain.len() - 20];
    assert!(matches!(problem("", &key), Problem::NoCertificate));
    assert!(matches!(problem(&key, &key), Problem::NoCertificate));
    assert!(matches!(problem(cut, &key), Problem::BadPem(_)));
    assert!(matches!(
        problem(&garbage.replace("PRIVATE KEY", "CERTIFICATE"), &key),
        Problem::BadCertificate(_)
    ));
    assert!(matches!(problem(&chain, &chain), Problem::NoKey));
    assert!(matches!(problem(&chain, encrypted), Problem::EncryptedKey));
    assert!(matches!(problem(&chain, old), Problem::EncryptedKey));
    assert!(matches!(problem(&chain, garbage), Problem::BadKey(_)));
    assert!(matches!(problem(&other, &key), Problem::OtherKey));
    Identity::from_pem(chain.as_bytes(), key.as_bytes()).unwrap();
    Identity::from_pem((chain + &key).as_bytes(), key.as_bytes()).unwrap();
}

#[test]
fn an_expired_certificate_is_not_taken() {
    let mut params = CertificateParams::new(["a.test".to_owned()]).unwrap();
    params.not_after = rcgen::date_time_ymd(2020, 2, 29);
    let key = KeyPair::generate().unwrap();
    let chain = params.self_signed(&key).unwrap().pem();
    let problem = problem(&chain, &key.serialize_pem());
    assert!(problem.to_string().contains("29 Feb 2020"), "{problem}");
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing.pem");
    let error = Acceptor::builder()
        .files(&missing, &missing)
        .build()
        .unwrap_err();
    assert!(
        error.to_string().contains("missing.pem: cannot be read"),
        "{error}"
    );
    assert_eq!(io::Error::from(error).kind(), io::ErrorKind::NotFound);
    let error = Acceptor::builder().build().unwrap_err();
    assert!(matches!(error.problem(), Problem::Nothing));
    let error = Roots::from_file(&missing).unwrap_err();
    assert!(error.to_string().contains("missing.pem"), "{error}");
}
