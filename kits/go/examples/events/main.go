// Command events subscribes an endpoint, looks after the subscription, and deletes it again; the address and a key are in the
// environment.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"svckit"
)

func main() {
	ctx := context.Background()
	events, err := svckit.NewEventSubscriptions(svckit.Connection{BaseURL: os.Getenv("SVC_URL"), APIKey: os.Getenv("SVC_RP_KEY")})
	check(err)
	made, secret, err := events.Create(ctx, svckit.SubscriptionRequest{
		URL: "https://shop.example/hooks/svc", Types: []string{"decision.deny", "grant.revoked"},
	})
	check(err)
	fmt.Println(made.State, len(secret)) // keep the secret: svckit.VerifyWebhook takes it

	pinged, err := events.Test(ctx, made.ID)
	check(err)
	_, previousEndsAt, err := events.Rotate(ctx, made.ID) // until then both are good
	check(err)
	all, err := events.List(ctx)
	check(err)
	fmt.Println(len(all), len(all[0].Secrets), *all[0].Secrets[1].EndsAt == previousEndsAt)

	page, _, err := events.Deliveries(ctx, made.ID, 50, "")
	check(err)
	for _, one := range page { // a moment after Test the ping is among them
		fmt.Println(one.Type, one.EventID == pinged)
	}

	disabled, err := events.Disable(ctx, made.ID)
	check(err)
	enabled, err := events.Enable(ctx, made.ID)
	check(err)
	_, err = events.ReplaySince(ctx, made.ID, made.CreatedAt)
	check(err)
	fmt.Println(disabled.State, *disabled.DisabledBecause, enabled.State)
	check(events.Delete(ctx, made.ID))
	_, err = events.Test(ctx, made.ID)
	fmt.Println(err)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
