package approval

// EndSession withdraws the pending requests of a session that has ended.
func (b *Broker) EndSession(session string) {
	if !b.Sessions()[session] {
		return
	}
	for _, r := range b.List() {
		if r.Request.Key.Session == session {
			b.withdraw(r.Request, func() bool { return true })
		}
	}
}

// MarkUnasked corrects an earlier call of [Broker.Put]: the channel did not show q to anyone. If no
// other channel is showing q and no calls at other brokers wait for it, q is withdrawn. Otherwise q
// stays pending, but all brokers ignore later answers to it from the client.
func (b *Broker) MarkUnasked(q *Request, channel string) {
	if !b.removeChannel(q, channel) {
		return
	}
	err := b.amend(q.ID, func(q *Request) (d Progress, ok bool, err error) {
		if q == nil || q.progress.Answer.State != Pending {
			return d, false, nil
		}
		over := len(q.open) == 0 && !q.progress.Shared
		if d = q.progress; over {
			d.Answer.State = Withdrawn
		}
		return d, over || b.storage != nil, nil
	})
	if err != nil {
		b.options.Log.Error("could not close an approval at a client that showed no question: other processes may accept its answer", "approval", q.ID, "error", err)
	}
}
