//! What the lifecycle operations of resources remember.

use crate::model::ZOO;
use crate::support::{Site, builder, value};

#[tokio::test]
async fn resources_remember() {
    let site = Site::start(builder(ZOO)).await;
    let new = site.call("OpenHouse", r#"{"title":"Apes"}"#).await;
    let id = new["houseId"].as_str().unwrap();
    let arn = format!("arn:aws:zoo:us-east-1:123456789012:house/{id}");
    assert_eq!(new["arn"].as_str(), Some(&*arn));
    let house = format!(r#"{{"houseId":"{id}"}}"#);
    assert_eq!(
        site.call("VisitHouse", &house).await["title"].as_str(),
        Some("Apes")
    );
    let all = site.call("Houses", "{}").await;
    assert_eq!(
        all["houses"],
        value(&format!(r#"[{{"houseId":"{id}","title":"Apes"}}]"#))
    );

    // The child names its parent by `@resourceIdentifier`.
    let admit = format!(r#"{{"house":"{id}","animalName":"Koko","legs":2}}"#);
    site.call("Admit", &admit).await;
    let koko = format!(r#"{{"houseId":"{id}","animalName":"Koko"}}"#);
    assert_eq!(site.call("Look", &koko).await["legs"].as_i64(), Some(2));
    let feed = format!(r#"{{"houseId":"{id}","animalName":"Koko","meals":3}}"#);
    assert_eq!(
        site.call("Feed", &feed).await,
        value(r#"{"meals":3,"legs":2}"#)
    );
    assert_eq!(site.call("Look", &koko).await["meals"].as_i64(), Some(3));
    let other = format!(r#"{{"houseId":"{id}","animalName":"?"}}"#);
    assert_eq!(site.error("Look", &other).await.0, "AnimalNotFound");
    let other = r#"{"house":"?","animalName":"Koko"}"#;
    assert_eq!(site.error("Admit", other).await.0, "HouseNotFound");

    // An animal goes with its house.
    site.call("CloseHouse", &house).await;
    assert_eq!(site.error("VisitHouse", &house).await.0, "HouseNotFound");
    let dump = site.page("GET", "state", "").await.1;
    assert_eq!(dump["example.zoo#Zoo"], value("{}"));
}
