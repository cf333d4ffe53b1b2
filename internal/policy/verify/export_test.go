package verify

// LimitInventions limits the number of names that are tried for patterns.
func (o *Options) LimitInventions(n int) { o.inventions = n }

// LimitGroups limits the number of states of a group that is explored completely for liveness.
func (o *Options) LimitGroups(states int) { o.groups = states }
