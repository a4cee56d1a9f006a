// Two servers: the synchronous one for streams and single calls, as most people write it, and the callback one for many calls at a time,
// which is gRPC's fastest way to answer small unary calls.
#include "server.h"

#include <grpcpp/grpcpp.h>

#include <cstring>

#include "measure.h"
#include "rival.grpc.pb.h"

namespace {

constexpr int kMessageBytesMax = 64 << 20;

class Synchronous final : public rival::Rival::Service {
    grpc::Status Take(grpc::ServerContext *, grpc::ServerReader<rival::Payload> *reader, rival::Totals *totals) override {
        rival::Payload payload;
        uint64_t count = 0, bytes = 0, disorder = 0;
        while (reader->Read(&payload)) {
            uint64_t number = 0;
            std::memcpy(&number, payload.bytes().data(), sizeof number);
            count++;
            bytes += payload.bytes().size();
            disorder += number != count;
        }
        totals->set_ended(measure_now());
        totals->set_count(count);
        totals->set_bytes(bytes);
        totals->set_disorder(disorder);
        return grpc::Status::OK;
    }

    grpc::Status Echo(grpc::ServerContext *, const rival::Payload *question, rival::Payload *answer) override {
        answer->set_bytes(question->bytes());
        return grpc::Status::OK;
    }
};

class Callback final : public rival::Rival::CallbackService {
    grpc::ServerUnaryReactor *Echo(grpc::CallbackServerContext *context, const rival::Payload *question, rival::Payload *answer) override {
        answer->set_bytes(question->bytes());
        grpc::ServerUnaryReactor *reactor = context->DefaultReactor();
        reactor->Finish(grpc::Status::OK);
        return reactor;
    }
};

}  // namespace

void Serve(void *context) {
    auto *job = static_cast<ServerJob *>(context);
    Synchronous synchronous;
    Callback callback;
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    builder.SetMaxReceiveMessageSize(kMessageBytesMax);
    if (job->threads == 0) builder.RegisterService(&synchronous);
    else builder.RegisterService(&callback);
    std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
    measure_check(server != nullptr && port != 0, "the gRPC server");
    write_all(job->port_report, &port, sizeof port);
    server->Wait();
}
