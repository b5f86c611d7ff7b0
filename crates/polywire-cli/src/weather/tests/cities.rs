//! Cities, their forecasts, their statistics and the regions that they lie in.

use super::*;

#[tokio::test]
async fn pages_of_cities_make_up_the_whole() {
    let fixture = Fixture::new().await;
    let whole = fixture.call("ListCities", []).await.unwrap();
    assert!(whole["nextToken"].is_null());
    let whole = whole["cities"].as_list().unwrap().to_vec();
    assert_eq!(whole.len(), 3);
    for size in 1..=4 {
        let mut cities = Vec::new();
        let mut token = Value::Null;
        loop {
            let page = [("pageSize", size.into()), ("nextToken", token)];
            let page = fixture.call("ListCities", page).await.unwrap();
            cities.extend_from_slice(page["cities"].as_list().unwrap());
            token = page["nextToken"].clone();
            if token.is_null() {
                break;
            }
        }
        assert_eq!(cities, whole, "{size}");
    }
}

#[tokio::test]
async fn pages_that_cannot_be() {
    let fixture = Fixture::new().await;
    for size in [0, -1, 101, i32::MAX] {
        let answer = fixture.call("ListCities", [("pageSize", size.into())]);
        assert_refused(answer.await, "/pageSize", "between 1 and 100");
    }
    for token in ["", "atlantis", "Oslo", "oslo "] {
        let answer = fixture.call("ListCities", [("nextToken", token.into())]);
        assert_invalid(answer.await, "nextToken: expected");
    }
}

#[tokio::test]
async fn deleted_cities_are_gone_everywhere() {
    let fixture = Fixture::new().await;
    let oslo = || [("cityId", "oslo".into())];
    let head = fixture.head("DeleteCity", oslo()).await;
    assert_eq!(head.status, 204);
    // Deleting again succeeds: the first response may have been lost.
    assert_eq!(fixture.call("DeleteCity", oslo()).await.unwrap(), map([]));

    assert_no_such(fixture.call("GetCity", oslo()).await, "city", "oslo");
    assert_no_such(fixture.call("GetForecast", oslo()).await, "city", "oslo");
    let year = [("cityId", "oslo".into()), ("year", 2025.into())];
    assert_no_such(fixture.call("GetStatistics", year).await, "city", "oslo");
    let path = [("path", "europe/norway/eastern".into())];
    let region = fixture.call("DescribeRegion", path).await.unwrap();
    assert_eq!(region["region"]["cities"], list([]));
    let cities = fixture.call("ListCities", []).await.unwrap();
    assert_eq!(cities["cities"].as_list().unwrap().len(), 2);

    // A page that ended with it can still be gone on from.
    let after = [("nextToken", "oslo".into())];
    let cities = fixture.call("ListCities", after).await.unwrap();
    assert_eq!(cities["cities"][0]["cityId"], "quito".into());

    // Another service has a world of its own.
    let other = Fixture::new().await;
    assert!(other.call("GetCity", oslo()).await.is_ok());
}

#[tokio::test]
async fn headers_carry_members_over_rest() {
    let fixture = Fixture::new().await;
    let oslo = || [("cityId", "oslo".into())];
    let head = fixture.head("GetCity", oslo()).await;
    assert_eq!((head.status, head.header("etag")), (200, "\"r-17\""));
    let head = fixture.head("GetForecast", oslo()).await;
    assert_eq!(head.header("expires"), "Sun, 01 Nov 2026 18:00:00 GMT");
}

#[tokio::test]
async fn forecast_has_the_requested_days() {
    let fixture = Fixture::new().await;
    for city in ["kyoto", "oslo", "quito"] {
        for days in 1..=14_usize {
            let input = [("cityId", city.into()), ("days", (days as i64).into())];
            let forecast = fixture.call("GetForecast", input).await.unwrap();
            let list = forecast["days"].as_list().unwrap();
            assert_eq!(list.len(), days);
            for (day, next) in list.iter().zip(&list[1..]) {
                let date = |day: &Value| day["date"].as_timestamp().unwrap().seconds();
                assert_eq!(date(day) + 86_400, date(next));
                assert!(day["low"].as_f64() < day["high"].as_f64());
            }
            let hours = forecast["temperatures"].as_list().unwrap();
            assert_eq!(hours.len(), days + 1);
            assert_eq!(hours.iter().any(Value::is_null), days >= 3);
            assert_eq!(forecast["outlook"].as_map().unwrap().len(), 1);
        }
    }
}

#[tokio::test]
async fn forecast_defaults_and_bounds() {
    let fixture = Fixture::new().await;
    for wire in WIRES {
        let input = Map::from_iter([("cityId", "oslo")]);
        let forecast = fixture.call_over(wire, "GetForecast", input).await.unwrap();
        assert_eq!(forecast["units"], "metric".into());
        assert_eq!(forecast["days"].as_list().unwrap().len(), 3);
        let hours = vec![3.5_f32.into(), 4.25_f32.into(), 2.0_f32.into(), Value::Null];
        assert_eq!(forecast["temperatures"], hours.into(), "{wire}");
    }
    for days in [0, 15, -128] {
        let input = [("cityId", "oslo".into()), ("days", days.into())];
        let answer = fixture.call("GetForecast", input).await;
        assert_refused(answer, "/days", "between 1 and 14");
    }
    let input = [("cityId", "oslo".into()), ("units", "kelvin".into())];
    let answer = fixture.call("GetForecast", input).await;
    assert_refused(answer, "/units", "[metric, imperial]");
}

#[tokio::test]
async fn imperial_degrees() {
    let fixture = Fixture::new().await;
    let input = [("cityId", "oslo".into()), ("units", "imperial".into())];
    let forecast = fixture.call("GetForecast", input).await.unwrap();
    assert_eq!(forecast["units"], "imperial".into());
    assert_eq!(forecast["days"][0]["low"], 34.7_f32.into());
    assert_eq!(forecast["days"][0]["high"], 42.8_f32.into());
    assert_eq!(forecast["temperatures"][0], 38.3_f32.into());
    // Wind is in metres per second in both unit systems.
    assert_eq!(forecast["outlook"]["wind"]["speed"], 7.5.into());
}

#[tokio::test]
async fn years_have_a_month_without_measurement() {
    let fixture = Fixture::new().await;
    for city in ["kyoto", "oslo", "quito"] {
        for year in [1900, 1999, 2024] {
            let input = || Map::from_iter([("cityId", Value::from(city)), ("year", year.into())]);
            let mut answers = Vec::new();
            for wire in WIRES {
                let answer = fixture.call_over(wire, "GetStatistics", input());
                answers.push(answer.await.unwrap());
            }
            assert_eq!(answers[0], answers[1], "{city} in {year}");
            assert_eq!(answers[0], answers[2], "{city} in {year}");
            let months = answers[0]["rainfallByMonth"].as_map().unwrap();
            assert_eq!(months.len(), 12);
            let gaps = months.values().filter(|rain| rain.is_null()).count();
            assert_eq!(gaps, 1);
            assert!(matches!(answers[0]["rainfallLitres"], Value::BigInteger(_)));
            assert!(matches!(
                answers[0]["meanTemperature"],
                Value::BigDecimal(_)
            ));
            let extremes = &answers[0]["extremes"];
            let value = |name: &str| extremes[name]["value"].as_f64().unwrap();
            assert!(value("coldest") < value("warmest"));
        }
    }
}

#[tokio::test]
async fn years_of_which_nothing_is_known() {
    let fixture = Fixture::new().await;
    for year in [i16::MIN, -1, 1899, 2027, i16::MAX] {
        let input = [("cityId", "oslo".into()), ("year", year.into())];
        let answer = fixture.call("GetStatistics", input).await.unwrap();
        let expected = map([
            ("cityId", "oslo".into()),
            ("year", year.into()),
            ("observations", 0.into()),
        ]);
        assert_eq!(answer, expected);
    }
}

#[tokio::test]
async fn regions_hold_regions() {
    let fixture = Fixture::new().await;
    for (path, name, depth) in [
        ("asia", "Asia", 4),
        ("asia/japan/kansai/kyoto", "Kyoto Prefecture", 1),
        ("europe", "Europe", 3),
        ("south-america/ecuador/galapagos", "Galápagos", 1),
    ] {
        let answer = fixture.call("DescribeRegion", [("path", path.into())]);
        let answer = answer.await.unwrap();
        assert_eq!(answer["region"]["name"], name.into());
        assert_eq!(answer["depth"], depth.into());
    }
    let asia = fixture.call("DescribeRegion", [("path", "asia".into())]);
    let japan = asia.await.unwrap()["region"]["parts"][0].clone();
    let kyoto = &japan["parts"][0]["parts"][0];
    assert_eq!(kyoto["cities"], list(["kyoto"]));

    for path in [
        "norway",
        "europe/",
        "europe//norway",
        "europe/norway/oslo",
        "Europe",
    ] {
        let answer = fixture.call("DescribeRegion", [("path", path.into())]);
        assert_no_such(answer.await, "region", path);
    }
}
