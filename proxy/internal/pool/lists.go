package pool

// An Item is one element of a list of an upstream.
type Item struct {
	Upstream *Server
	Key      string // as the upstream calls it
	Exposed  string // as the clients do
	Object   []byte // as the clients see it
}
