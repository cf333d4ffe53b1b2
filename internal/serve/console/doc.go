// Package console serves the web pages of a proxy for people: pending approvals, activity, nets,
// sessions, tools, the health of the proxy, and the policy.
//
// Anyone who can open the console can answer for people, so there is only one way to log in. A
// person at the command line gets a login code, valid once, in the fragment of an address, which
// browsers do not send to servers. The page exchanges it for a cookie. Each request is checked for
// its Host header, which stops pages whose own name resolves to this address (DNS rebinding), then
// for the page that it comes from, then for the cookie; each form also carries a token. A GET
// changes nothing.
//
//	c := console.New(console.Options{Proxy: p, Hosts: []string{"127.0.0.1:7780"}})
//	address := "http://127.0.0.1:7780/#" + c.Code(console.Person{Name: "ann", ID: "uid 1000"})
//	http.Serve(listener, c)
//
// A [Console] has three parts. The logins hold codes and browser sessions. The journal keeps the
// newest calls and events as rows, from earlier records and from the feed of the proxy. The history
// keeps the state of the nets after each step of a session; states from before the console was
// opened are rebuilt from records by a rebuilder. Each part has its own mutex; the journal and the
// history each have one goroutine that adds records. Rows are immutable: a change replaces a row,
// so that pages can read rows without a lock.
package console
