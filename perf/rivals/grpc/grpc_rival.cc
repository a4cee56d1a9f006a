// gRPC C++ over loopback, client and server in processes of their own. Nothing is durable.
//   grpc_rival stream plain|hint BYTES MESSAGES   a client stream; hint: all writes but each 64th may be buffered
//   grpc_rival ping CALLS                         unary calls of 16 bytes, one at a time
//   grpc_rival crowd OUTSTANDING CALLS            unary calls of 16 bytes, so many at a time, by completion queue
// The server is forked before this process has touched gRPC, whose threads would not survive a fork.
#include <grpcpp/grpcpp.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "measure.h"
#include "rival.grpc.pb.h"
#include "server.h"

namespace {

constexpr uint64_t kHintEvery = 64;
constexpr size_t kPingBytes = 16;
constexpr uint64_t kWarmUpMessages = 20000;
constexpr size_t kWarmUpCalls = 2000;

class ServerProcess {
public:
    explicit ServerProcess(int threads) {
        int report[2];
        measure_check(pipe(report) == 0, "pipe");
        ServerJob job{report[1], threads};
        id_ = start_process(Serve, &job);
        int port = 0;
        close(report[1]);
        measure_check(read_all(report[0], &port, sizeof port), "the server's port");
        channel_ = grpc::CreateChannel("127.0.0.1:" + std::to_string(port), grpc::InsecureChannelCredentials());
        stub_ = rival::Rival::NewStub(channel_);
    }

    ~ServerProcess() {
        kill(id_, SIGKILL);
        waitpid(id_, nullptr, 0);
    }

    ServerProcess(const ServerProcess &) = delete;
    ServerProcess &operator=(const ServerProcess &) = delete;

    rival::Rival::Stub &stub() { return *stub_; }

    // Of both processes, nanoseconds.
    uint64_t cpu() const { return processor_time(getpid()) + processor_time(id_); }

private:
    pid_t id_;
    std::shared_ptr<grpc::Channel> channel_;
    std::unique_ptr<rival::Rival::Stub> stub_;
};

rival::Totals Send(rival::Rival::Stub &stub, bool hint, size_t bytes, uint64_t messages) {
    grpc::ClientContext context;
    rival::Totals totals;
    auto writer = stub.Take(&context, &totals);
    rival::Payload payload;
    payload.set_bytes(std::string(bytes, 'x'));
    for (uint64_t i = 1; i <= messages; i++) {
        std::memcpy(payload.mutable_bytes()->data(), &i, sizeof i);
        grpc::WriteOptions options;
        if (hint && i % kHintEvery != 0 && i != messages) options.set_buffer_hint();
        measure_check(writer->Write(payload, options), "Write");
    }
    writer->WritesDone();
    measure_check(writer->Finish().ok(), "Finish");
    return totals;
}

int RunStream(bool hint, size_t bytes, uint64_t messages) {
    ServerProcess server(0);
    Send(server.stub(), hint, bytes, std::min(messages, kWarmUpMessages));
    uint64_t cpu = server.cpu(), begun = measure_now();
    rival::Totals found = Send(server.stub(), hint, bytes, messages);
    round_usage usage{static_cast<double>(server.cpu() - cpu) / 1e9, 0, 0};
    round_totals totals{found.count(), found.bytes(), found.disorder(), found.ended()};
    print_round(static_cast<double>(totals.ended - begun) / 1e9, &totals, &usage);
    return 0;
}

std::string Question(uint64_t number) {
    std::string bytes(kPingBytes, 'x');
    std::memcpy(bytes.data(), &number, sizeof number);
    return bytes;
}

int RunPing(size_t calls) {
    ServerProcess server(0);
    std::vector<uint64_t> latencies;
    latencies.reserve(calls);
    uint64_t wrong = 0, cpu = 0, begun = 0;
    for (size_t i = 0; i < calls + kWarmUpCalls; i++) {
        if (i == kWarmUpCalls) cpu = server.cpu(), begun = measure_now();
        grpc::ClientContext context;
        rival::Payload question, answer;
        question.set_bytes(Question(i));
        uint64_t called = measure_now();
        measure_check(server.stub().Echo(&context, question, &answer).ok(), "Echo");
        if (i >= kWarmUpCalls) latencies.push_back(measure_now() - called);
        wrong += answer.bytes() != question.bytes();
    }
    double seconds = static_cast<double>(measure_now() - begun) / 1e9;
    round_usage usage{static_cast<double>(server.cpu() - cpu) / 1e9, 0, 0};
    print_latencies(wrong, seconds, &usage, latencies.data(), latencies.size());
    return 0;
}

// One of the calls under way; its address is its tag.
struct Pending {
    grpc::ClientContext context;
    rival::Payload question, answer;
    grpc::Status status;
    uint64_t called;
    std::unique_ptr<grpc::ClientAsyncResponseReader<rival::Payload>> reader;
};

class Crowd {
public:
    Crowd(ServerProcess &server, size_t outstanding) : server_(server), outstanding_(outstanding) {}

    // Makes so many calls; their latencies are kept in place of those before.
    void Run(size_t calls) {
        latencies.clear();
        latencies.reserve(calls);
        wrong = 0;
        size_t begun = 0;
        for (; begun < std::min(outstanding_, calls); begun++) Begin(begun);
        while (latencies.size() < calls) {
            void *tag = nullptr;
            bool ok = false;
            measure_check(queue_.Next(&tag, &ok) && ok, "the completion queue");
            std::unique_ptr<Pending> done(static_cast<Pending *>(tag));
            measure_check(done->status.ok(), "Echo");
            wrong += done->answer.bytes() != done->question.bytes();
            latencies.push_back(measure_now() - done->called);
            if (begun < calls) Begin(begun++);
        }
    }

    std::vector<uint64_t> latencies;
    uint64_t wrong = 0;

private:
    void Begin(size_t number) {
        auto *call = new Pending();
        call->question.set_bytes(Question(number));
        call->called = measure_now();
        call->reader = server_.stub().AsyncEcho(&call->context, call->question, &queue_);
        call->reader->Finish(&call->answer, &call->status, call);
    }

    ServerProcess &server_;
    size_t outstanding_;
    grpc::CompletionQueue queue_;
};

int RunCrowd(size_t outstanding, size_t calls) {
    ServerProcess server(1);
    Crowd crowd(server, outstanding);
    crowd.Run(std::max(outstanding, kWarmUpCalls));
    uint64_t cpu = server.cpu(), begun = measure_now();
    crowd.Run(calls);
    double seconds = static_cast<double>(measure_now() - begun) / 1e9;
    round_usage usage{static_cast<double>(server.cpu() - cpu) / 1e9, 0, 0};
    print_latencies(crowd.wrong, seconds, &usage, crowd.latencies.data(), crowd.latencies.size());
    return 0;
}

}  // namespace

int main(int argc, char **argv) {
    std::string command = argc > 1 ? argv[1] : "";
    if (command == "stream" && argc == 5) {
        std::string kind = argv[2];
        uint64_t bytes = measure_number(argv[3]);
        if ((kind == "plain" || kind == "hint") && bytes >= 8 && bytes <= 1 << 24) return RunStream(kind == "hint", bytes, measure_number(argv[4]));
    }
    if (command == "ping" && argc == 3) return RunPing(measure_number(argv[2]));
    if (command == "crowd" && argc == 4) return RunCrowd(measure_number(argv[2]), measure_number(argv[3]));
    std::fprintf(stderr, "usage: %s stream plain|hint BYTES MESSAGES | ping CALLS | crowd OUTSTANDING CALLS   (BYTES from 8 to 16777216)\n", argv[0]);
    return 2;
}
