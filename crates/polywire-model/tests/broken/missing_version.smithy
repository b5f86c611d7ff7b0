namespace example

structure City {}
