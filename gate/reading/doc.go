// Package reading reads what the nets of a policy read of calls beside their names: the
// values of keys, the amounts of sums, and which calls are equal. A record that has
// them, be it as hashes, is enough to make the decision again without the arguments.
package reading
