package pool

// Root is the trunk of u, or u itself.
func (u *Server) Root() *Server {
	if u.Trunk != nil {
		return u.Trunk
	}
	return u
}
