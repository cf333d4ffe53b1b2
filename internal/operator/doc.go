// Package operator defines what the operator of a proxy sees and orders: the status of the proxy,
// its sessions, the tools that clients can call, the nets of its policy, requests for approval and
// their answers, grants, and the kill switch.
//
// The console, the control socket, the webhook, the terminal and the commands use the proxy only
// through this package. It contains data types, which also define the JSON of the control socket
// and of the --json flags, and the interface [Proxy], which *proxy.Proxy implements. MCP clients
// have no access to any of this.
package operator
