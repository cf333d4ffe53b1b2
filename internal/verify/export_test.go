package verify

// LimitInventions bounds how many names are tried of those that patterns match.
func (o *Options) LimitInventions(n int) { o.inventions = n }
