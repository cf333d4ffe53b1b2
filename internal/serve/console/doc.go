// Package console serves a proxy's web console, with pages for pending approvals, activity, nets,
// sessions, tools, the proxy's health, and the policy.
//
// Anyone who can open the console can answer approvals, so each browser must log in. A person runs
// a command that prints a URL with a login code in its fragment, which browsers do not send to
// servers. The code is valid once; the page exchanges it for a cookie. Except for static files and
// the login itself, each request must carry the cookie, and each form must also carry a token. The
// Host header of a request must be allowed, which stops DNS rebinding. A request that may change
// something must come from a page of the console. GET requests change nothing.
//
//	c := console.New(console.Options{Proxy: p, Hosts: []string{"127.0.0.1:7780"}})
//	address := "http://127.0.0.1:7780/#" + c.Code(console.Person{Name: "ann", ID: "uid 1000"})
//	http.Serve(listener, c)
//
// A [Console] has three parts. The logins hold login codes and browser sessions. The journal keeps
// the newest calls and events as rows; it reads them from stored records and from the proxy's audit
// feed. The history keeps the state of the nets after each step of a session. It replays stored
// records to reconstruct states from before the console was opened. Each part has its own mutex.
// The journal and the history each run one goroutine that adds records. Rows are immutable: a
// change replaces a row, so pages can read rows without holding a lock.
package console
