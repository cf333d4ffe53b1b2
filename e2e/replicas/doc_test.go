// Package replicas runs three petrigate processes with one PostgreSQL database, in front of a
// server that counts what it executes. An operator answers at a different replica than the one that
// has asked. Meanwhile, the test kills replicas and the database, and cuts connections.
package replicas
