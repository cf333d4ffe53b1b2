// Package reverse passes the requests of servers to clients: sampling/createMessage,
// elicitation/create and roots/list, and the answers back.
package reverse
