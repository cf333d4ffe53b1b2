// Package proxytest starts proxies for the tests of package proxy and of the packages below it. It
// provides upstreams that record their calls, and clients that can send arbitrary bytes.
//
// A [Site] consists of a proxy, an upstream, and a recorder for the proxy's decisions. The upstream
// is a [testserver.Server] that records the calls it executes. A [Leg] is a combination of a
// transport (stdio or HTTP) and a family of protocol revisions. Most tests run once for each of the
// four combinations:
//
//	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
//		s := proxytest.Start(t, proxytest.Setup{Rules: "block danger\n"})
//		c := s.Connect(l, "")
//		c.Must("safe", `{}`)
//		c.Refuses("danger", `{}`, "blocked")
//		s.Executed("danger", 0)
//	})
//
// To find out whether a call was executed, a test asks the upstream instead of relying on the
// proxy's response. A [Fleet] consists of several proxies that share a database.
//
// A package that uses proxytest needs a TestMain that calls [Main], since [ChildUpstream] starts
// the test binary as an upstream.
package proxytest
