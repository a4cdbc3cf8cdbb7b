#include "proxy/daemon/journal_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>

#include "dataplane/base/prng.h"
#include "dataplane/base/test_folder.h"
#include "proxy/daemon/test_records.h"

namespace matchrdma {
namespace {

using test::record_of;

const JournalGeometry kTwoSpans{{"east", "west"}, 2, 64};

struct Journal : testing::Test {
  std::unique_ptr<JournalFile> life(const JournalGeometry& g = kTwoSpans) {
    auto file = JournalFile::open(path, g);
    EXPECT_TRUE(file) << file.error();
    return std::move(*file);
  }
  std::string complaint() const {
    const auto file = JournalFile::open(path, kTwoSpans);
    return file ? "" : file.error();
  }
  /// (span, slot it was written as) of all promises, sorted.
  static std::vector<std::pair<std::string, uint32_t>> named(const JournalFile& f) {
    std::vector<std::pair<std::string, uint32_t>> out;
    for (const JournaledPromise& p : f.findings().promised) {
      for (uint32_t slot = 0; slot < 64; ++slot)
        if (record_of(slot, 0).key.dst_qpn == p.record.key.dst_qpn) out.emplace_back(p.span, slot);
    }
    std::sort(out.begin(), out.end());
    return out;
  }
  using Named = std::vector<std::pair<std::string, uint32_t>>;
  test::TestFolder folder;
  const std::string path = folder / "journal";
};

TEST_F(Journal, FileThatIsDeletedOrReplacedIsNoticed) {
  auto file = life();
  EXPECT_TRUE(file->in_place());
  std::filesystem::rename(path, path + ".away");
  EXPECT_FALSE(file->in_place());
  std::ofstream(path) << "another one";
  EXPECT_FALSE(file->in_place());
  std::filesystem::rename(path + ".away", path);
  EXPECT_TRUE(file->in_place());
}

TEST_F(Journal, WhatWasPromisedLastIsFoundByTheNextLife) {
  {
    auto first = life();
    EXPECT_TRUE(first->findings().promised.empty());
    first->write(first->section(0, 0), record_of(3, 1));
    first->write(first->section(0, 0), record_of(3, 2));
    first->write(first->section(0, 1), record_of(4, 1));
    first->write(first->section(0, 1), record_of(4, 2, false));  // kept
    first->write(first->section(1, 1), record_of(63, 9));
  }
  auto second = life();
  EXPECT_EQ(named(*second), (Named{{"east", 3}, {"west", 63}}));
  JournalRecord east = record_of(3, 2), west = record_of(63, 9);
  west.key.port_pair = 1;
  west.slot = 63;
  EXPECT_EQ(second->findings().promised[0].record, east);
  EXPECT_EQ(second->findings().promised[1].record, west);
  EXPECT_TRUE(second->findings().same_boot);
  EXPECT_EQ(second->findings().unreadable, 0u);
}

TEST_F(Journal, PromisesStayUntilTheyAreForgotten) {
  life()->write(0, record_of(3, 1));
  for (int lives = 0; lives < 3; ++lives) EXPECT_EQ(named(*life()), (Named{{"east", 3}}));
  {
    auto file = life();
    file->write(file->section(1, 0), record_of(5, 1));
    file->forget();
  }
  EXPECT_EQ(named(*life()), (Named{{"west", 5}}));
}

TEST_F(Journal, ANewerRecordOfThisLifeReplacesAnInheritedOne) {
  life()->write(0, record_of(3, 1));
  {
    auto file = life();
    JournalRecord again = record_of(3, 7);  // the same flow, in another slot of another worker
    again.slot = 9;
    file->write(file->section(0, 1), again);
  }
  auto file = life();
  ASSERT_EQ(file->findings().promised.size(), 1u);
  EXPECT_EQ(file->findings().promised[0].record.acked_end.v, 7u);
  JournalRecord kept = record_of(3, 8, false);
  file->write(file->section(0, 0), kept);
  file.reset();
  EXPECT_TRUE(life()->findings().promised.empty());
}

TEST_F(Journal, AFlowThatMovedToAnotherSlotIsStillPromised) {
  {
    auto file = life();
    file->write(0, record_of(3, 1, false));
    JournalRecord again = record_of(3, 2);
    again.slot = 1;
    file->write(0, again);
    again.slot = 2;
    again.promised = false;
    file->write(0, again);
  }
  EXPECT_EQ(named(*life()), (Named{{"east", 3}}));
}

TEST_F(Journal, AnotherGeometryLosesNothing) {
  {
    auto first = life();
    for (uint32_t slot = 0; slot < 64; ++slot)
      first->write(first->section(slot % 2, slot / 2 % 2), record_of(slot, 1));
  }
  Named all;
  for (uint32_t slot = 0; slot < 64; ++slot) all.emplace_back(slot % 2 == 0 ? "east" : "west", slot);
  std::sort(all.begin(), all.end());
  for (const JournalGeometry& g :
       {JournalGeometry{{"west", "north", "east"}, 1, 8}, JournalGeometry{{"north"}, 5, 1},
        JournalGeometry{{"west", "east"}, 3, 1000}}) {
    auto file = life(g);
    EXPECT_EQ(named(*file), all);
    for (const JournaledPromise& p : file->findings().promised) {
      const auto at = std::find(g.spans.begin(), g.spans.end(), p.span);
      EXPECT_EQ(p.configured, at != g.spans.end());
      if (p.configured) {
        EXPECT_EQ(p.record.key.port_pair, at - g.spans.begin());
      }
    }
    // The old ones are out of the way of the new.
    for (uint32_t section = 0; section < g.spans.size() * g.workers; ++section)
      file->write(section, record_of(0, 3, false));
    all.erase(std::remove_if(all.begin(), all.end(),
                             [&](const auto& n) {
                               return n.second == 0 && std::count(g.spans.begin(), g.spans.end(), n.first) == 1;
                             }),
              all.end());
  }
}

TEST_F(Journal, TwoDaemonsCannotShareIt) {
  auto file = life();
  EXPECT_NE(complaint().find("another matchrdmad uses it"), std::string::npos) << complaint();
  file.reset();
  EXPECT_EQ(complaint(), "");
}

TEST_F(Journal, OnlyItsOwnerMayReadIt) {
  const mode_t before = ::umask(0);
  life();
  ::umask(before);
  for (const std::string& name : {path, path + ".lock"}) {
    struct stat st {};
    ASSERT_EQ(::stat(name.c_str(), &st), 0);
    EXPECT_EQ(st.st_mode & 07777, 0600u) << name;
  }
  EXPECT_NE(::access((path + ".new").c_str(), F_OK), 0);
}

TEST_F(Journal, WhatIsNoJournalIsLeftAlone) {
  std::ofstream(path)
      << "the plans of the bank, in a file of some other program, longer than a header would be: "
      << std::string(200, 'x');
  EXPECT_NE(complaint().find("is no journal of matchrdmad"), std::string::npos) << complaint();
  EXPECT_NE(complaint().find("remove it"), std::string::npos);
  std::string text;
  std::ifstream(path) >> text;
  EXPECT_EQ(text, "the");
  std::filesystem::remove(path);
  std::filesystem::create_symlink("/dev/null", path);
  EXPECT_FALSE(complaint().empty());
  std::filesystem::remove(path);
  std::filesystem::create_directory(path);
  EXPECT_NE(complaint().find("not a plain file"), std::string::npos) << complaint();
  std::filesystem::remove(path);
  std::ofstream(path).flush();  // made for us, and empty
  EXPECT_EQ(complaint(), "");
}

TEST_F(Journal, AFolderThatIsNotThereIsNamed) {
  const auto file = JournalFile::open(folder / "no" + "/journal", kTwoSpans);
  ASSERT_FALSE(file);
  EXPECT_NE(file.error().find("its folder must exist"), std::string::npos) << file.error();
}

TEST_F(Journal, AHalfMadeSuccessorIsNoMatter) {
  life()->write(0, record_of(3, 1));
  std::ofstream(path + ".new") << "half a header";
  EXPECT_EQ(named(*life()), (Named{{"east", 3}}));
}

/// Runs `job` in a child; its exit code, or -1 when a signal ended it.
template <class Job>
int in_child(Job job) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(job());
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(Journal, WithoutRoomTheOldOneStays) {
  life()->write(0, record_of(3, 1));
  const int code = in_child([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1 << 20, 1 << 20};  // a full disk, in what it does to us
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return 2;
    const auto file = JournalFile::open(path, {{"east"}, 8, 65536});
    if (file) return 3;
    if (file.error().find("65 MiB cannot be reserved") == std::string::npos) return 4;
    return file.error().find("free space") == std::string::npos ? 5 : 0;
  });
  EXPECT_EQ(code, 0);
  EXPECT_NE(::access((path + ".new").c_str(), F_OK), 0);
  EXPECT_EQ(named(*life()), (Named{{"east", 3}}));
}

// H13, exhaustively: what a death after each single instruction of a write leaves.
TEST_F(Journal, AfterEveryInstructionOfAWriteARecordIsWhole) {
  const JournalGeometry one{{"east"}, 1, 1};
  const JournalRecord old = record_of(0, 2), fresh = record_of(0, 3);
  const pid_t child = ::fork();
  if (child == 0) {
    auto file = JournalFile::open(path, one);
    if (!file || ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) ::_exit(1);
    (*file)->write(0, record_of(0, 1));
    (*file)->write(0, old);
    ::raise(SIGSTOP);
    (*file)->write(0, fresh);
    ::_exit(0);
  }
  int status = 0, steps = 0, changes = 0;
  JournalRecord last = old;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(::ptrace(PTRACE_SETOPTIONS, child, nullptr, PTRACE_O_EXITKILL), 0);
  for (; WIFSTOPPED(status); ++steps) {
    const auto found = read_journal(path, one.spans);
    ASSERT_TRUE(found) << found.error();
    ASSERT_EQ(found->promised.size(), 1u) << steps;
    const JournalRecord& now = found->promised[0].record;
    ASSERT_TRUE(now == old || now == fresh) << steps;
    changes += now != last;
    last = now;
    ASSERT_EQ(::ptrace(PTRACE_SINGLESTEP, child, nullptr, nullptr), 0);
    ASSERT_EQ(::waitpid(child, &status, 0), child);
  }
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_GT(steps, 100);
  EXPECT_EQ(changes, 1);
  EXPECT_EQ(last, fresh);
}

/// What a writer says it has done, in memory that outlives it.
struct Progress {
  std::atomic<uint32_t> done[64];  ///< the newest write of the slot that returned
};

// H13: SIGKILL at any moment. Each slot holds the last write that returned, or the one that was being made.
TEST_F(Journal, AKilledWriterLeavesOnlyWholeRecords) {
  void* shared = ::mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  auto* progress = new (shared) Progress{};
  Prng r(11);
  size_t in_the_middle = 0;
  for (int round = 0; round < 60; ++round) {
    for (auto& d : progress->done) d = 0;
    const uint64_t seed = r.next();
    const pid_t child = ::fork();
    if (child == 0) {
      auto file = JournalFile::open(path, {{"east"}, 1, 64});
      if (!file) ::_exit(1);
      (*file)->forget();
      Prng mine(seed);
      for (uint32_t n = 1;; ++n) {
        const auto slot = static_cast<uint32_t>(mine.below(64));
        (*file)->write(0, record_of(slot, n));
        progress->done[slot].store(n, std::memory_order_relaxed);
      }
    }
    while (progress->done[0].load() == 0) ::usleep(100);
    ::usleep(static_cast<useconds_t>(r.below(2000)));
    ::kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));

    const auto found = read_journal(path, {"east"});
    ASSERT_TRUE(found) << found.error();
    EXPECT_EQ(found->unreadable, 0u);
    uint32_t newest = 0, written = 0;
    for (const auto& d : progress->done) newest = std::max(newest, d.load()), written += d.load() != 0;
    ASSERT_GE(found->promised.size(), written);
    for (const JournaledPromise& p : found->promised) {
      const uint32_t n = p.record.acked_end.v, told = progress->done[p.record.slot];
      ASSERT_LT(newest, 1u << 24);
      ASSERT_EQ(p.record, record_of(p.record.slot, n));
      ASSERT_TRUE(n == told || n == newest + 1) << n << " after " << told << ", newest " << newest;
      in_the_middle += n != told;
    }
  }
  ::munmap(shared, sizeof(Progress));
  RecordProperty("killed between the record and the word of it", static_cast<int>(in_the_middle));
}

// A death while the next life replaces the file: nothing that was promised is lost.
TEST_F(Journal, AKilledSuccessorLosesNothing) {
  {
    auto first = life();
    for (uint32_t slot = 0; slot < 64; ++slot) first->write(0, record_of(slot, 1));
  }
  Prng r(5);
  for (int round = 0; round < 60; ++round) {
    const pid_t child = ::fork();
    if (child == 0) {
      for (uint32_t workers = 1;; workers = workers % 3 + 1)
        if (!JournalFile::open(path, {{"east", "west"}, workers, 16})) ::_exit(1);
    }
    ::usleep(static_cast<useconds_t>(r.below(5000)));
    ::kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << WEXITSTATUS(status);
    const auto found = read_journal(path, {"east"});
    ASSERT_TRUE(found) << found.error();
    ASSERT_EQ(found->promised.size(), 64u);
  }
}

}  // namespace
}  // namespace matchrdma
