// Package relay serves the requests of clients that are no calls: lists, resources,
// prompts, completion, subscriptions and log levels; and it announces changes. What the
// nets would refuse to call is refused here too.
package relay
