package pool

// Dedicated reports whether u serves one session only.
func (u *Server) Dedicated() bool { return u.shared != nil }

// Shared returns the connection that sessions share: u itself, or the one that u is a
// dedicated copy of.
func (u *Server) Shared() *Server {
	if u.Dedicated() {
		return u.shared
	}
	return u
}
