# The front door: version, help, and what wrong usage gets.
show wfre --version
show wfre nonsense
show wfre info --frobnicate
show wfre info one two three
