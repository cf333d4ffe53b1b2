// Package proxytest starts proxies in front of recording upstreams, and clients that send them
// arbitrary bytes. Tests alone use it: those of package proxy and of the packages below it.
//
// A [Site] is a proxy with one upstream, a [testserver.Server] that records what it executes, and
// with a recorder of its decisions. Its clients are on one of four legs, stdio and HTTP in both
// families of revisions:
//
//	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
//		s := proxytest.Start(t, proxytest.Setup{Rules: "block danger\n"})
//		c := s.Connect(l, "")
//		c.Must("safe", `{}`)
//		c.Refuses("danger", `{}`, "blocked")
//		s.Executed("danger", 0)
//	})
//
// What the upstream has executed is the judge, never the answer of the proxy. A [Fleet] is several
// proxies with one database.
//
// A package that uses it needs TestMain with [Main]: the test binary is also the upstream that
// [ChildUpstream] starts.
package proxytest
