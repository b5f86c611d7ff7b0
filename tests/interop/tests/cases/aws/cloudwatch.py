# Which of the wires that it knows for CloudWatch botocore takes is its own choice.
botocore.model.PRIORITY_ORDERED_SUPPORTED_PROTOCOLS = [wire]
cloudwatch = client("cloudwatch")
day = lambda day: datetime.datetime(2026, 11, day, tzinfo=datetime.timezone.utc)
rain = {"Namespace": "weather", "MetricName": "rain",
        "Dimensions": [{"Name": "city", "Value": "oslo"}]}
pages = cloudwatch.get_paginator("list_metrics").paginate(Namespace="weather")
show({
    "wire": cloudwatch.meta.service_model.resolved_protocol,
    "pages": [page["Metrics"] for page in pages],
    "statistics": bare(cloudwatch.get_metric_statistics(
        **rain, StartTime=day(1), EndTime=day(3), Period=86400, Statistics=["Sum", "Maximum"])),
    "dashboard": bare(cloudwatch.get_dashboard(DashboardName="home")),
    "error": caught(lambda: cloudwatch.get_dashboard(DashboardName="away")),
    "put": bare(cloudwatch.put_metric_data(Namespace="weather", MetricData=[
        {"MetricName": "rain", "Timestamp": day(1), "Values": [1.5, 1e-7], "Counts": [1, 2],
         "Dimensions": rain["Dimensions"], "Unit": "None"}])),
})
