// Package operator defines what the operator of a proxy can see and do. An operator can inspect the
// proxy, its sessions, its tools and its nets, answer requests for approval, manage grants, and use
// the kill switch.
//
// The console, the control socket, the webhook, the terminal and the commands use the proxy only
// through this package. It contains the interface [Proxy], which *proxy.Proxy implements, and data
// types. The data types also define the JSON of the control socket and of the --json flags. MCP
// clients have no access to any of this.
package operator
