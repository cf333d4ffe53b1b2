package verify

// LimitInventions bounds the names that are tried for patterns.
func (o *Options) LimitInventions(n int) { o.inventions = n }

// LimitGroups bounds the states of a group that is explored whole for liveness.
func (o *Options) LimitGroups(states int) { o.groups = states }
