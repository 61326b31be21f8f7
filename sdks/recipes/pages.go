package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"example.com/sdks/monitoring"
)

// <recipe>

func main() {
	configuration := monitoring.NewConfiguration()
	configuration.Servers[0].URL = os.Getenv("BASE_URL")
	ctx := context.WithValue(context.Background(), monitoring.ContextAccessToken, os.Getenv("TOKEN"))
	err := everyMonitor(ctx, monitoring.NewAPIClient(configuration), func(monitor monitoring.Monitor) {
		fmt.Println(monitor.Id)
	})
	if err != nil {
		log.Fatal(err)
	}
}
