#include "result/worker.h"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <stdexcept>
#include <thread>

#include "base/error.h"

namespace trnsim {
namespace {

// The first byte of what a worker writes says what follows.
constexpr char returned = 'r';
constexpr char input_error = 'i';
constexpr char cannot_run = 'c';
constexpr char other_error = 'e';

struct Worker {
  pid_t pid = -1;
  int pipe = -1;
  size_t task = 0;
  std::string output;
};

void write_all(int file, const std::string& text) {
  size_t written = 0;
  while (written < text.size()) {
    const ssize_t some = write(file, text.data() + written, text.size() - written);
    if (some < 0 && errno == EINTR) continue;
    if (some <= 0) _exit(1);  // nobody is listening any more
    written += static_cast<size_t>(some);
  }
}

std::string outcome(const std::function<std::string()>& task) {
  try {
    return returned + task();
  } catch (const InputError& error) {
    return input_error + std::string(error.what());
  } catch (const CannotRun& error) {
    return cannot_run + std::string(error.what());
  } catch (const std::exception& error) {
    return other_error + std::string(error.what());
  }
}

Worker start(const std::function<std::string()>& task, size_t index,
             const std::vector<Worker>& others) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0)
    throw std::runtime_error(std::string("no pipe for a worker: ") + std::strerror(errno));
  const pid_t pid = fork();
  if (pid < 0) throw std::runtime_error(std::string("no worker: ") + std::strerror(errno));
  if (pid == 0) {
    close(ends[0]);
    for (const Worker& other : others) close(other.pipe);
    write_all(ends[1], outcome(task));
    // _exit: buffers and statics belong to the parent.
    _exit(0);
  }
  close(ends[1]);
  return {pid, ends[0], index, {}};
}

std::string finish(Worker& worker) {
  close(worker.pipe);
  int status = 0;
  while (waitpid(worker.pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (worker.output.empty())
    throw std::runtime_error(
        WIFSIGNALED(status)
            ? std::string("a simulation was ended by a signal: ") + strsignal(WTERMSIG(status))
            : "a simulation ended without a result, status " + std::to_string(WEXITSTATUS(status)));
  std::string rest = worker.output.substr(1);
  switch (worker.output.front()) {
    case returned:
      return rest;
    case input_error:
      throw InputError(rest);
    case cannot_run:
      throw CannotRun(rest);
    default:
      throw std::runtime_error(rest);
  }
}

// Reads from the workers until one has closed its end; returns its index among them.
size_t wait_for_one(std::vector<Worker>& workers) {
  while (true) {
    std::vector<pollfd> polled;
    for (const Worker& worker : workers) polled.push_back({worker.pipe, POLLIN, 0});
    if (poll(polled.data(), polled.size(), -1) < 0 && errno != EINTR)
      throw std::runtime_error(std::string("cannot wait for workers: ") + std::strerror(errno));
    for (size_t i = 0; i < workers.size(); ++i) {
      if (polled[i].revents == 0) continue;
      std::array<char, 65536> buffer{};
      const ssize_t some = read(workers[i].pipe, buffer.data(), buffer.size());
      if (some > 0) workers[i].output.append(buffer.data(), static_cast<size_t>(some));
      if (some == 0 || (some < 0 && errno != EINTR)) return i;
    }
  }
}

}  // namespace

std::vector<std::string> run_in_workers(const std::vector<std::function<std::string()>>& tasks) {
  const size_t at_once = std::max(1U, std::thread::hardware_concurrency());
  std::vector<std::string> results(tasks.size());
  std::vector<Worker> running;
  size_t next = 0;
  try {
    while (next < tasks.size() || !running.empty()) {
      while (next < tasks.size() && running.size() < at_once) {
        running.push_back(start(tasks[next], next, running));
        ++next;
      }
      const size_t done = wait_for_one(running);
      Worker worker = std::move(running[done]);
      running.erase(running.begin() + static_cast<std::ptrdiff_t>(done));
      results[worker.task] = finish(worker);
    }
  } catch (...) {
    for (const Worker& worker : running) {
      kill(worker.pid, SIGKILL);
      close(worker.pipe);
      waitpid(worker.pid, nullptr, 0);
    }
    throw;
  }
  return results;
}

}  // namespace trnsim
