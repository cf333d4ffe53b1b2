// Package operator holds what the operator of a proxy sees and orders: the status of the proxy,
// its sessions, the tools that clients can call, the nets of its policy, requests for approval and
// their answers, grants, and the kill switch.
//
// It is the only package about the proxy that the console, the control socket, the webhook, the
// terminal and the commands use. It has data types, which are also the JSON of the control socket
// and of commands with --json, and one interface, [Proxy], which *proxy.Proxy implements. Clients
// cannot reach anything of it.
package operator
