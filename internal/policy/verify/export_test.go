package verify

// LimitInventions bounds how many names are tried of those that patterns match.
func (o *Options) LimitInventions(n int) { o.inventions = n }

// LimitGroups bounds up to how many states of a group it is asked whole whether
// calls are always possible.
func (o *Options) LimitGroups(states int) { o.groups = states }
