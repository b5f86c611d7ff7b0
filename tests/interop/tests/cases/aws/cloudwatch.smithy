$version: "2.0"

// What the mock of CloudWatch answers: two pages and an error.
namespace polywire.interop

apply com.amazonaws.cloudwatch#ListMetrics @examples([
    {
        title: "the first page"
        input: { Namespace: "weather" }
        output: {
            Metrics: [{
                Namespace: "weather"
                MetricName: "rain"
                Dimensions: [{ Name: "city", Value: "oslo" }]
            }]
            NextToken: "more"
        }
    }
    {
        title: "the last page"
        input: { Namespace: "weather", NextToken: "more" }
        output: { Metrics: [{ Namespace: "weather", MetricName: "wind" }] }
    }
])

apply com.amazonaws.cloudwatch#GetMetricStatistics @examples([{
    title: "two days of rain"
    input: {
        Namespace: "weather"
        MetricName: "rain"
        StartTime: "2026-11-01T00:00:00Z"
        EndTime: "2026-11-03T00:00:00Z"
        Period: 86400
        Statistics: ["Sum", "Maximum"]
        Dimensions: [{ Name: "city", Value: "oslo" }]
    }
    output: {
        Label: "rain"
        Datapoints: [
            { Timestamp: "2026-11-01T00:00:00Z", Sum: 12.5, Maximum: 1e-7, Unit: "None" }
            { Timestamp: "2026-11-02T00:00:00Z", Sum: 0.1, ExtendedStatistics: { p99: 0.30000000000000004 } }
        ]
    }
}])

apply com.amazonaws.cloudwatch#GetDashboard @examples([
    {
        title: "a dashboard"
        input: { DashboardName: "home" }
        output: { DashboardName: "home", DashboardBody: "{\"widgets\":[\"<&>\"]}" }
    }
    {
        title: "one that is not there"
        input: { DashboardName: "away" }
        error: {
            shapeId: com.amazonaws.cloudwatch#DashboardNotFoundError
            content: { message: "there is no away" }
        }
    }
])
