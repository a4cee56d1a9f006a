// The server's process: one listening port that the kernel chooses, told to the parent over a descriptor.
#pragma once

struct ServerJob {
    int port_report;   // the port goes here as an int
    int threads;       // completion-queue pollers for many calls at a time; 0: the synchronous server
};

// Serves until its parent ends.
void Serve(void *job);
