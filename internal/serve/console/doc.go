// Package console serves the pages of a proxy for people: what waits for an answer, what
// happens, the nets, sessions, tools, the health of the proxy, and the policy.
//
// Whoever opens it can answer for people, so it has one way in. A person at the command line
// is given a code, once, in the fragment of an address, which browsers send to nobody. The
// page exchanges it for a cookie. Each request is checked for the host that it asks for,
// which keeps pages out that make their own name lead here (DNS rebinding), then for the
// page that it comes from, then for the cookie; each form carries a token as well. Nothing
// changes by a GET.
//
//	c := console.New(console.Options{Proxy: p, Hosts: []string{"127.0.0.1:7780"}})
//	address := "http://127.0.0.1:7780/#" + c.Code(console.Person{Name: "ann", ID: "uid 1000"})
//	http.Serve(listener, c)
package console
